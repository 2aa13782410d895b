import type { ConversationMessageRow } from '../../stores/talk/message.ts'
import { type Answered, type Answerer, answer } from '../answer/answer.ts'
import { type KnowledgeHit, searchKnowledge } from '../knowledge/search.ts'
import { failureOf, ModelFailure } from '../model/failure.ts'
import type { Message } from '../model/models.ts'
import { isWithinBudget, recordCall } from '../model/spend.ts'
import { voiceOf } from '../model/voice.ts'
import { announceMessage } from './announce.ts'
import { writeGrowing } from './growing.ts'
import type { TalkWork } from './work.ts'

/** For how long whoever writes a reply is believed alive, in ms; each piece says so again. */
export const leaseMs = 15_000
/** How many messages of the past a model is told, and how many passages it is given. */
export const max = { before: 20, passages: 6 } as const

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

/** Writes the reply that is held, to its end. */
export async function writeReply(job: TalkWork, reply: ConversationMessageRow): Promise<void> {
  const beat = setInterval(() => {
    job.conversationMessages
      .prolong(reply, later(job.clock.now(), leaseMs))
      .catch(error => job.log.warn({ err: error, messageId: reply.id }, 'lease of a reply could not be prolonged'))
  }, leaseMs / 3)
  try {
    await fail(job, reply, await written(job, reply))
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

/** @returns why it failed; null when it is complete, or somebody else's by now */
async function written(job: TalkWork, reply: ConversationMessageRow): Promise<Failure> {
  // What was written once is never taken back, so a reply that broke off stays as it is.
  if (reply.text !== '' || reply.attempts > 3) return { code: 'UPSTREAM_FAILED', message: 'The reply was interrupted: ask again.' }
  try {
    const { mode, notice, used, pieces } = await answerTo(job, reply)
    const hits = used.map(({ document, start, end, quote, score }) => ({ documentId: document.id, start, end, quote, score }))
    await writeGrowing(pieces, async text => {
      const now = job.clock.now()
      const grown = await job.conversationMessages.grow(reply, { text, mode, notice, hits }, { now, until: later(now, leaseMs) })
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

type Titled = KnowledgeHit & { readonly title: string }

async function answerTo(job: TalkWork, reply: ConversationMessageRow): Promise<Answered<Titled>> {
  const { organizationId } = reply
  const conversation = await job.conversations.byId.load(reply.conversationId)
  const agent = conversation && (await job.agents.byId.load(conversation.agentId))
  if (agent?.status !== 'ACTIVE')
    throw new ModelFailure({ hadNoEffect: true, isFinal: true, code: 'NOT_PERMITTED', message: 'The agent of this conversation is not active.' })
  const said = await job.conversationMessages.before(reply, max.before)
  const text = said.at(-1)?.text ?? ''
  const found = await searchKnowledge(job, { organizationId, query: text, sourceIds: agent.knowledgeSourceIds, first: max.passages })
  const answerer: Answerer = {
    ...{ organizationId, instructions: agent.instructions, model: agent.model, voice: await voiceOf(job, agent) },
    maySpend: () => isWithinBudget(job, agent),
    spent: usage => recordCall(job, agent, usage),
  }
  const before = said.slice(0, -1).map(({ role, text: content }): Message => ({ role: role === 'USER' ? 'USER' : 'ASSISTANT', content }))
  return answer(
    job,
    answerer,
    { text, before, forUser: reply.userId },
    found.map(hit => ({ ...hit, title: hit.document.title })),
  )
}
