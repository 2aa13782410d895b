import { searchKnowledge } from '../knowledge/search.ts'
import type { CallEnd } from '../run/interpret.ts'
import type { Calling } from '../run/work.ts'
import { failureOf, ModelFailure, noModel } from './failure.ts'
import { messagesOfRounds, offeredTools, roundOf, toolsFor } from './offered.ts'
import { messagesOf } from './prompt.ts'
import { beginCall, recordCall, releaseCall } from './spend.ts'
import { voiceOf } from './voice.ts'
import type { ModelWork } from './work.ts'

/** How many passages of its agent's sources a model is given. */
const maxPassages = 6

/**
 * Has the agent of a MODEL step answer its prompt from its sources, where they say something about it, or say which of its tools it wants called.
 * The output is `{ text }`. It never rejects for what providers do.
 */
export async function callModel(job: ModelWork, { run, step, state }: Calling): Promise<CallEnd> {
  try {
    const agent = step.agentId === null ? null : await job.agents.byId.load(step.agentId)
    if (agent?.organizationId !== run.organizationId || agent.status !== 'ACTIVE')
      return { failure: { hadNoEffect: true, isFinal: true, code: 'NOT_PERMITTED', message: 'The agent of this step is not active.' } }
    if (agent.model === null) return { failure: noModel() }
    const voice = await voiceOf(job, agent)
    const { prompt } = state.input as { readonly prompt: unknown }
    const content = typeof prompt === 'string' ? prompt : JSON.stringify(prompt)
    const { organizationId, knowledgeSourceIds: sourceIds } = agent
    const found = await searchKnowledge(job, { organizationId, query: content, sourceIds, first: maxPassages, forUser: run.startedById })
    const passages = found.map(({ document, quote }) => ({ title: document.title, text: quote }))
    const rounds = state.rounds ?? []
    const offered = await offeredTools(job, agent)
    const { tools, mayCall } = toolsFor(offered, rounds)
    const stepMs = step.timeoutSeconds * 1_000
    const until = performance.now() + stepMs
    const begun = await beginCall(job, agent, stepMs)
    if (!begun) return { failure: { hadNoEffect: true, isFinal: true, code: 'BUDGET_EXCEEDED', message: 'The agent has reached its monthly limit.' } }
    // Near its limit an agent has waited for other calls, in the time of its step.
    const timeoutMs = Math.max(1_000, Math.round(until - performance.now()))
    const asking = job.models.complete({
      ...{ organizationId: run.organizationId, forUser: run.startedById, model: agent.model, tools, mayCall, timeoutMs },
      messages: messagesOf({ instructions: agent.instructions, voice, passages }, [{ role: 'USER', content }, ...messagesOfRounds(rounds)]),
    })
    const { text, calls, ...usage } = await asking.catch(async (error: unknown) => {
      await releaseCall(job, begun)
      throw error
    })
    await recordCall(job, agent, usage, begun, [...run.lineage, run.id])
    const { callId } = usage
    return calls.length > 0 && mayCall ? { round: roundOf(text, calls, offered), callId } : { answer: { text }, callId }
  } catch (error) {
    if (!(error instanceof ModelFailure)) job.log.error({ err: error, runId: run.id, step: step.key }, 'model step failed')
    return { failure: failureOf(error, false) }
  }
}
