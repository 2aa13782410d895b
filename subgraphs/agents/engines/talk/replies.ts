import { newId } from '../../../../platform/ids.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction } from '../../../store/write.ts'
import type { ConversationMessageRow } from '../../stores/talk/message.ts'
import { isHeldBy } from '../run/kill-switch.ts'
import type { ReplyDesk } from '../run/work.ts'
import { leaseMs, writeReply } from './reply.ts'
import { closeReply } from './with-tools.ts'
import type { TalkWork } from './work.ts'

/** How often replies are looked for that no local wake-up names, in ms; how many one process writes at once, and of one organization. */
const everyMs = 10_000
const maxAtOnce = 64
const maxOfOne = 16
/** For how long a reply is left alone that may not begin at present, in ms. */
const heldMs = 5_000

/** What writes replies in this process. */
export interface Replies extends ReplyDesk {
  readonly sweep: Sweep
  /** Has replies looked for at once. */
  soon(): void
  /** Begins nothing more. Replies under way are taken over by other processes. */
  stop(): void
}

/** Takes the reply whose turn it is; null when there is none that may begin. */
const hold = (job: TalkWork, without: readonly string[]): Promise<ConversationMessageRow | null | 'held'> =>
  inTransaction(job, async ({ transaction }) => {
    const now = job.clock.now()
    const due = await job.conversationMessages.lockDue(now, without, transaction)
    if (!due) return null
    const conversation = await job.conversations.lock(due.conversationId, transaction)
    const isHeld = isHeldBy(await job.killSwitches.heldFor(due.organizationId, transaction), conversation?.agentId ?? null)
    const until = new Date(now.getTime() + (isHeld ? heldMs : leaseMs))
    const held = await job.conversationMessages.update(
      due,
      isHeld ? { wakeAt: until } : { wakeAt: until, claimId: newId(now), attempts: due.attempts + 1 },
      transaction,
    )
    return isHeld ? 'held' : held
  })

/** Opens what writes replies. @param job what it works with, made anew for each reply */
export function openReplies(job: () => TalkWork): Replies {
  let wake = (): void => {}
  let over = false
  const underWay = new Map<string, string>()

  async function write(reply: ConversationMessageRow): Promise<void> {
    try {
      await writeReply(job(), reply)
    } catch (error) {
      job().log.error({ err: error, messageId: reply.id }, 'a reply could not be written; another process takes it over')
    } finally {
      underWay.delete(reply.id)
      wake()
    }
  }

  return {
    soon: () => wake(),
    close: (run, unit) => closeReply(job(), run, unit),
    sweep: {
      name: 'replies that are due',
      everyMs,
      wakes(whenAsked) {
        wake = whenAsked
      },
      async run() {
        while (!over && underWay.size < maxAtOnce) {
          const ofOne = Map.groupBy(underWay.values(), organizationId => organizationId)
          const busy = [...ofOne].flatMap(([organizationId, those]) => (those.length >= maxOfOne ? [organizationId] : []))
          const reply = await hold(job(), busy)
          if (!reply) return
          if (reply === 'held') continue
          underWay.set(reply.id, reply.organizationId)
          void write(reply)
        }
      },
    },
    stop() {
      over = true
    },
  }
}
