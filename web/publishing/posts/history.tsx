import {
  Ban,
  CheckCheck,
  CircleAlert,
  CircleCheck,
  CircleHelp,
  Eye,
  type LucideIcon,
  MessageSquareWarning,
  Pause,
  Play,
  RotateCcw,
  Send,
  UserCheck,
} from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Diff } from '../../design/history/diff.tsx'
import { type Happening, Timeline } from '../../design/history/timeline.tsx'
import { Button } from '../../design/parts/button.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type PostDetailsFragment, RestoreVersionDocument } from './posts.generated.ts'

interface HistoryProps {
  readonly post: PostDetailsFragment
  readonly zone: string | undefined
}

const outcomes: Readonly<Record<string, LucideIcon>> = { DELIVERED: CircleCheck, REFUSED: CircleAlert, UNKNOWN: CircleHelp }

/** Each time that it was handed to its network, and what came of it. */
export function Attempts({ post: { deliveryAttempts }, zone }: HistoryProps) {
  if (deliveryAttempts.length === 0) return null
  const steps = deliveryAttempts.map(
    ({ number, startedAt, outcome, detail }): Happening => ({
      key: String(number),
      icon: outcomes[outcome ?? ''] ?? Send,
      title: say('history.attempt', { number, outcome: say(`history.${outcome ?? 'SENDING'}`) }),
      time: moment(startedAt, zone),
      detail,
    }),
  )
  return (
    <details className="more" open>
      <summary>{say('history.attempts')}</summary>
      <Timeline steps={steps} />
    </details>
  )
}

const decisions: Readonly<Record<string, LucideIcon>> = {
  SUBMIT: UserCheck,
  APPROVE: CheckCheck,
  REQUEST_CHANGES: MessageSquareWarning,
  REJECT: Ban,
  HOLD: Pause,
  RELEASE: Play,
  RESET: RotateCcw,
}

/** What those who approve did with it. */
export function Approvals({ post: { approvalEvents }, zone }: HistoryProps) {
  const events = (approvalEvents ?? []).filter(each => each !== null)
  if (events.length === 0) return null
  const steps = events.map(
    ({ action, at, comment, user }, index): Happening => ({
      key: `${at} ${index}`,
      icon: decisions[action] ?? UserCheck,
      title: user ? say('history.by', { what: say(`history.${action}`), who: user.name }) : say(`history.${action}`),
      time: moment(at, zone),
      detail: comment,
    }),
  )
  return (
    <details className="more">
      <summary>{say('history.approvals')}</summary>
      <Timeline steps={steps} />
    </details>
  )
}

/** What it said before: each version beside the one before it, and the way back to it. @param mayRestore whether the post takes changes, from this person */
export function Versions({ post, zone, mayRestore }: HistoryProps & { readonly mayRestore: boolean }) {
  const [{ error, fetching }, restore] = useMutation(RestoreVersionDocument)
  const [asked, setAsked] = useState<number | null>(null)
  const problem = problemOf(error)
  const versions = (post.versions ?? []).filter(each => each !== null).toSorted((a, b) => b.version - a.version)
  if (versions.length < 2) return null
  async function bringBack(version: number) {
    const { data } = await restore({ input: { id: post.id, version, expectedVersion: post.version } })
    if (!data?.restorePostVersion) return
    setAsked(null)
    toast({ sentence: say('history.restored') })
  }
  const steps = versions.map(({ version, copy, createdAt, author }, at): Happening => {
    const before = versions[at + 1]
    return {
      key: String(version),
      icon: Eye,
      title: author ? say('history.by', { what: say('history.version', { version }), who: author.name }) : say('history.version', { version }),
      time: moment(createdAt, zone),
      detail: (
        <>
          {before ? <Diff before={before.copy} after={copy} /> : <p className="text">{copy}</p>}
          {at > 0 && mayRestore && (
            <Button kind="link" onPress={() => setAsked(version)} aria-label={say('history.restore-named', { version })}>
              {say('history.restore')}
            </Button>
          )}
        </>
      ),
    }
  })
  return (
    <details className="more">
      <summary>{say('history.versions', { count: versions.length })}</summary>
      <Timeline steps={steps} />
      {asked !== null && (
        <Confirm
          title={say('history.restore')}
          sentence={say('history.restore-sure', { version: asked })}
          verb={say('history.restore')}
          isDanger={false}
          isBusy={fetching}
          onConfirm={() => void bringBack(asked)}
          problem={problem}
          onClose={() => setAsked(null)}
        />
      )}
    </details>
  )
}
