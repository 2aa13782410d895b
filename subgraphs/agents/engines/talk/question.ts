import type { AgentRow } from '../../stores/agent.ts'
import type { CitedPassage, ConversationMessageRow } from '../../stores/talk/message.ts'
import type { Answerer, Question } from '../answer/answer.ts'
import { type KnowledgeHit, searchKnowledge } from '../knowledge/search.ts'
import { ModelFailure } from '../model/failure.ts'
import { beginCall, recordCall, releaseCall } from '../model/spend.ts'
import { voiceOf } from '../model/voice.ts'
import { pastOf } from './past.ts'
import type { TalkWork } from './work.ts'

/** How many messages are looked at for the past of one, and how many passages a model is given. */
export const max = { around: 40, passages: 6 } as const

type Hit = KnowledgeHit & { readonly title: string }

/** What a reply answers, and from what. */
export interface AboutReply {
  readonly agent: AgentRow
  /** The message that it answers. */
  readonly said: ConversationMessageRow
  readonly question: Question
  readonly hits: readonly Hit[]
}

/** Reads what a reply answers. @throws ModelFailure where its agent is not active */
export async function aboutReply(job: TalkWork, reply: ConversationMessageRow): Promise<AboutReply> {
  const { organizationId } = reply
  const conversation = await job.conversations.byId.load(reply.conversationId)
  const agent = conversation && (await job.agents.byId.load(conversation.agentId))
  if (agent?.status !== 'ACTIVE')
    throw new ModelFailure({ hadNoEffect: true, isFinal: true, code: 'NOT_PERMITTED', message: 'The agent of this conversation is not active.' })
  const said = await job.conversationMessages.answered(reply)
  if (!said) throw new ModelFailure({ hadNoEffect: true, isFinal: true, code: 'NOT_PERMITTED', message: 'The message that this answers is gone.' })
  const { knowledgeSourceIds: sourceIds } = agent
  // An agent without a model never asks one, not even for the vector of a question.
  const asker = { forUser: reply.userId, mayEmbed: agent.model !== null }
  const found = await searchKnowledge(job, { organizationId, query: said.text, sourceIds, first: max.passages, ...asker })
  const past = pastOf(said, await job.conversationMessages.around(said, max.around))
  const question = { text: said.text, before: past, forUser: reply.userId }
  return { agent, said, question, hits: found.map(hit => ({ ...hit, title: hit.document.title })) }
}

/** Who answers for an agent. @param runIds the run that writes the reply, where one does */
export const answererOf = async (job: TalkWork, agent: AgentRow, runIds: readonly string[] = []): Promise<Answerer> => ({
  ...{ organizationId: agent.organizationId, instructions: agent.instructions, model: agent.model, voice: await voiceOf(job, agent) },
  async begin(timeoutMs) {
    const begun = await beginCall(job, agent, timeoutMs)
    return begun && { spent: usage => recordCall(job, agent, usage, begun, runIds), failed: () => releaseCall(job, begun) }
  },
})

/** The passages that a reply rests on, as they are kept. */
export const citedOf = (used: readonly Hit[]): readonly CitedPassage[] =>
  used.map(({ document, start, end, quote, score }) => ({ documentId: document.id, start, end, quote, score }))
