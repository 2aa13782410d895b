import { Ban, CircleAlert, CircleCheck, CircleDashed, CircleHelp, CirclePlay, Clock, type LucideIcon, SkipForward, UserRound } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { locale } from '../../shell/place.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import type { RunStatus, StepStatus } from './runs.generated.ts'

type Look = readonly [Meaning, LucideIcon]

const runs: Readonly<Record<RunStatus, Look>> = {
  QUEUED: ['plain', Clock],
  RUNNING: ['info', CirclePlay],
  WAITING_APPROVAL: ['warning', UserRound],
  WAITING_POLICY: ['info', Clock],
  WAITING_TIMER: ['info', Clock],
  SUCCEEDED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  CANCELLED: ['plain', Ban],
}
const steps: Readonly<Record<StepStatus, Look>> = {
  PENDING: ['plain', CircleDashed],
  RUNNING: ['info', CirclePlay],
  WAITING: ['info', Clock],
  SUCCEEDED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  UNKNOWN: ['warning', CircleHelp],
  SKIPPED: ['plain', SkipForward],
  CANCELLED: ['plain', Ban],
}
const other: Look = ['plain', Clock]

/** Where a run stands. */
export function RunState({ status }: { readonly status: RunStatus }) {
  const [meaning, icon] = runs[status] ?? other
  return (
    <Status meaning={meaning} icon={icon}>
      {sayIfKnown(`run.${status}`, status)}
    </Status>
  )
}

/** Where a step of a run stands. */
export function StepState({ status }: { readonly status: StepStatus }) {
  const [meaning, icon] = steps[status] ?? other
  return (
    <Status meaning={meaning} icon={icon}>
      {sayIfKnown(`step.${status}`, status)}
    </Status>
  )
}

/** Whether nothing more happens to a run by itself. */
export const isOver = (status: RunStatus): boolean => status === 'SUCCEEDED' || status === 'FAILED' || status === 'CANCELLED'

const unit = (name: string, digits: number) => new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: digits })

/** How long something took: `0.4 sec`, `12 min`. */
export function lasted(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  if (seconds < 60) return unit('second', seconds < 10 ? 1 : 0).format(seconds)
  if (seconds < 3600) return unit('minute', 0).format(seconds / 60)
  return seconds < 86_400 ? unit('hour', 1).format(seconds / 3600) : unit('day', 1).format(seconds / 86_400)
}

/** A value of a step as a text that people can read. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** Who acted, as the graph names those who are no people: `key:…`, `link:…`, `system`. */
export const actorName = (actor: string, user: { readonly name: string } | null | undefined): string => {
  if (user) return user.name
  const kind = actor.split(':')[0] ?? ''
  return sayIfKnown(`actor.${kind}`, say('actor.other'))
}
