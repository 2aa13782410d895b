import type { ConversationMessageRow } from '../../stores/talk/message.ts'
import { answer } from '../answer/answer.ts'
import { failureOf, ModelFailure } from '../model/failure.ts'
import { offeredTools } from '../model/offered.ts'
import { announceMessage } from './announce.ts'
import { writeGrowing } from './growing.ts'
import { aboutReply, answererOf, citedOf } from './question.ts'
import { beginRunOf } from './with-tools.ts'
import type { TalkWork } from './work.ts'

/** For how long whoever writes a reply is believed alive, in ms; each piece says so again. */
export const leaseMs = 15_000

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

/** Writes the reply that is held, to its end, or hands it over to a run where its agent has tools to call. */
export async function writeReply(job: TalkWork, reply: ConversationMessageRow): Promise<void> {
  const beat = setInterval(() => {
    job.conversationMessages
      .prolong(reply, later(job.clock.now(), leaseMs))
      .catch(error => job.log.warn({ err: error, messageId: reply.id }, 'lease of a reply could not be prolonged'))
  }, leaseMs / 3)
  using watching = job.stops.watch(reply)
  try {
    const failure = await written(job, reply, watching.signal)
    if (failure !== 'handed over') await fail(job, reply, failure)
  } finally {
    clearInterval(beat)
  }
}

type Failure = { readonly code: string; readonly message: string } | null

/** Ends a reply. */
async function fail(job: TalkWork, reply: ConversationMessageRow, failure: Failure): Promise<void> {
  const ended = await job.conversationMessages.end(reply, { status: failure ? 'FAILED' : 'COMPLETE', failure }, job.clock.now())
  if (ended) announceMessage(job.events, ended)
}

/** @returns why it failed; null when it is complete, or somebody else's by now; 'handed over' to a run that writes it */
async function written(job: TalkWork, reply: ConversationMessageRow, signal: AbortSignal): Promise<Failure | 'handed over'> {
  // What was written once is never taken back, so a reply that broke off stays as it is.
  if (reply.text !== '' || reply.attempts > 3) return { code: 'UPSTREAM_FAILED', message: 'The reply was interrupted: ask again.' }
  try {
    const { agent, said, question, hits } = await aboutReply(job, reply)
    if (agent.model !== null && (await offeredTools(job, agent)).length > 0) {
      await beginRunOf(job, reply, agent, said)
      return 'handed over'
    }
    const { mode, notice, used, pieces } = await answer(job, await answererOf(job, agent), { ...question, signal }, hits)
    const cited = citedOf(used)
    await writeGrowing(pieces, async text => {
      const now = job.clock.now()
      const grown = await job.conversationMessages.grow(reply, { text, mode, notice, hits: cited }, { now, until: later(now, leaseMs) })
      if (grown) announceMessage(job.events, grown)
      return grown !== null
    })
    return null
  } catch (error) {
    if (!(error instanceof ModelFailure)) job.log.error({ err: error, messageId: reply.id }, 'reply failed')
    const { code, message } = failureOf(error, false)
    return { code, message }
  }
}
