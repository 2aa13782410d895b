import { CalendarClock, CircleAlert, CircleCheck, CircleHelp, Clock, Hourglass, type LucideIcon, Pause, PenLine, Send } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { PostRowFragment } from './posts.generated.ts'

const stated: Readonly<Record<string, readonly [Meaning, LucideIcon]>> = {
  DRAFT: ['plain', PenLine],
  SCHEDULED: ['info', CalendarClock],
  SENDING: ['info', Send],
  PUBLISHED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  UNKNOWN: ['warning', CircleHelp],
  HELD: ['warning', Pause],
  WAITING: ['warning', Hourglass],
  PENDING: ['warning', Clock],
}

/** How a post stands, in one word: what a person has to know first. */
export function standOf({ status, deliveryPhase, held, waitsUntil, approval }: PostRowFragment): string {
  if (deliveryPhase === 'UNKNOWN') return 'UNKNOWN'
  if (status === 'SCHEDULED' && deliveryPhase !== 'NONE') return 'SENDING'
  if (status === 'SCHEDULED' && held) return 'HELD'
  if (status === 'SCHEDULED' && waitsUntil) return 'WAITING'
  if (status === 'DRAFT' && approval === 'PENDING') return 'PENDING'
  return status
}

/** The same as icon and word. */
export function PostStatus({ post }: { readonly post: PostRowFragment }) {
  const stand = standOf(post)
  const [meaning, icon] = stated[stand] ?? stated.DRAFT!
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`post.${stand}`)}
    </Status>
  )
}

/** When a post went out or is to go out, in the brand's zone. */
export function PostTime({ post: { publishedAt, scheduledAt }, zone }: { readonly post: PostRowFragment; readonly zone: string | undefined }) {
  const at = publishedAt ?? scheduledAt
  if (!at) return <span className="quiet">{say('posts.no-time')}</span>
  return (
    <time dateTime={at} className="quiet">
      {moment(at, zone)}
    </time>
  )
}
