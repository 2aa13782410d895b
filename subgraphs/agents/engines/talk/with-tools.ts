import { newId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import { personOf } from '../../../viewer.ts'
import type { AgentRow } from '../../stores/agent.ts'
import type { RunRow } from '../../stores/run/run.ts'
import type { ConversationMessageRow } from '../../stores/talk/message.ts'
import type { PlanStep } from '../../stores/workflow.ts'
import { type Answered, answer } from '../answer/answer.ts'
import { failureOf, ModelFailure } from '../model/failure.ts'
import { messagesOfRounds, offeredTools, roundOf, toolsFor } from '../model/offered.ts'
import { announceRun, announceWidget } from '../run/announce.ts'
import type { CallEnd } from '../run/interpret.ts'
import { limits } from '../run/plan.ts'
import { newRun } from '../run/start.ts'
import type { Calling } from '../run/work.ts'
import { announceMessage } from './announce.ts'
import { writeGrowing } from './growing.ts'
import { type AboutReply, aboutReply, answererOf, citedOf } from './question.ts'
import type { TalkWork } from './work.ts'

/** How long a model may take for one round, in seconds. */
const roundSeconds = 120
/** What stands between the texts of two rounds. */
const between = '\n\n'

/** The one step of a run that writes a reply. */
const replyStep = (agentId: string): PlanStep => ({
  ...{ key: 'reply', kind: 'MODEL', title: null, next: null, otherwise: null, arguments: {}, agentId, prompt: '{{input.text}}' },
  ...{ timeoutSeconds: roundSeconds, retries: limits.retries.usual, connectorId: null, tool: null, gate: null, counterparty: null },
  ...{ purpose: null, policyTimeoutSeconds: null, seconds: null, condition: null, workflowId: null, text: null },
})

/** Whether a run writes a reply: people begin all others with a workflow. */
export const isReply = ({ workflowId, trigger }: Pick<RunRow, 'workflowId' | 'trigger'>): boolean => workflowId === null && trigger === 'MANUAL'

/** Hands a reply over to a run that writes it, because its agent has tools to call. */
export async function beginRunOf(job: TalkWork, reply: ConversationMessageRow, agent: AgentRow, said: ConversationMessageRow): Promise<void> {
  const { organizationId } = reply
  const { createdBy } = said
  await write(job, {
    async run({ transaction, now }) {
      const id = newId(now)
      if (!(await job.conversationMessages.handOver(reply, id, transaction))) return null
      const plan = { id: newId(now), organizationId, workflowId: null, number: 1, steps: [replyStep(agent.id)], createdAt: now, createdBy }
      const { id: planId } = await job.plans.insert(plan, transaction)
      const begins = { organizationId, workflowId: null, planId, trigger: 'MANUAL', input: { text: said.text }, startedById: personOf(createdBy) } as const
      return job.runs.insert(newRun(id, { ...begins, createdBy }, now), transaction)
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'run.started', subjectId: id, actor: createdBy, details: { messageId: reply.id } }),
    announce(run) {
      announceRun(job.events, run)
      announceWidget(job.events, organizationId)
      job.runner.soon()
    },
  })
}

const interrupted: CallEnd = {
  failure: { hadNoEffect: true, isFinal: true, code: 'UPSTREAM_FAILED', message: 'The reply was interrupted: ask again.' },
}

/** Has the agent of a reply's run say its next words, and which of its tools it wants called. It never rejects for what providers do. */
export async function writeRound(job: TalkWork, calling: Calling): Promise<CallEnd> {
  const { run, claimId, state } = calling
  const reply = await job.conversationMessages.take(run.id, claimId)
  // What was written once is never taken back, so a reply that broke off within a round stays as it is.
  if (!reply || reply.text.length !== (state.rounds?.at(-1)?.written ?? 0)) return interrupted
  using watching = job.stops.watch(reply)
  try {
    const about = await aboutReply(job, reply)
    return await written(job, calling, reply, { ...about, question: { ...about.question, signal: watching.signal } })
  } catch (error) {
    if (!(error instanceof ModelFailure)) job.log.error({ err: error, messageId: reply.id }, 'reply failed')
    return { failure: failureOf(error, false) }
  }
}

async function written(job: TalkWork, { run, state }: Calling, reply: ConversationMessageRow, about: AboutReply): Promise<CallEnd> {
  const rounds = state.rounds ?? []
  const offered = await offeredTools(job, about.agent)
  const tools = toolsFor(offered, rounds)
  const answerer = await answererOf(job, about.agent, [...run.lineage, run.id])
  const answered = await answer(job, answerer, { ...about.question, ...tools, after: messagesOfRounds(rounds) }, about.hits)
  const grown = await grow(job, reply, answered)
  if (grown === null) return interrupted
  const { calls, callId } = answered.ended()
  const said = callId !== null && { callId }
  if (calls.length === 0 || !tools.mayCall) return { answer: { text: grown.said }, ...said }
  return { round: { ...roundOf(grown.said, calls, offered), written: grown.text.length }, ...said }
}

/** Writes what is said behind what was said before. @returns null where the reply has ended meanwhile, or another process writes it */
async function grow(job: TalkWork, reply: ConversationMessageRow, { mode, notice, used, pieces }: Answered<AboutReply['hits'][number]>) {
  const before = reply.text === '' ? '' : reply.text + between
  const hits = citedOf(used)
  const said = await writeGrowing(pieces, async text => {
    const grown = await job.conversationMessages.grow(reply, { text: before + text, mode, notice, hits }, { now: job.clock.now(), until: null })
    if (grown) announceMessage(job.events, grown)
    return grown !== null
  })
  if (said === null) return null
  return { said, text: said === '' ? reply.text : before + said }
}

/** Ends the reply that a run wrote, in the transaction that ends the run. @returns what announces it; null for a run that writes none */
export async function closeReply(job: Pick<TalkWork, 'conversationMessages' | 'events'>, run: RunRow, { transaction, now }: WriteTransaction) {
  if (!isReply(run)) return null
  const failure =
    run.status === 'SUCCEEDED' ? null : { code: run.failureCode ?? 'CANCELLED', message: run.failureMessage ?? 'The run of this reply was cancelled.' }
  const ended = await job.conversationMessages.endOf(run.id, { status: failure ? 'FAILED' : 'COMPLETE', failure }, now, transaction)
  return ended && (() => announceMessage(job.events, ended))
}
