import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import { EmbedDocument } from '../../ask.generated.ts'
import type { Embedder, Embedding } from '../knowledge/embedder.ts'
import { failureOf, ModelFailure } from '../model/failure.ts'

/** Maximum texts of one call. */
export const maxTexts = 32
/** How long a search waits for the vector of its question, in ms. */
const questionMs = 2_000
/** How long an organization's questions get no vector after one could not get any, in ms. */
const restMs = 30_000
/** Maximum questions whose vectors are remembered, and organizations that rest. */
const kept = { questions: 500, organizations: 5_000 } as const

/** Sets an entry of a map that forgets its oldest one. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value!)
}

/**
 * Opens the way to vectors.
 * @param model  the model that makes all of them: no other answers in its place
 * @param appId  the asking app
 * @param scopes its own scopes
 */
export function openEmbedder(
  { ask, log, monotonicMs = () => performance.now() }: { readonly ask: Ask; readonly log: Logger; readonly monotonicMs?: () => number },
  { model, appId, scopes }: { readonly model: string; readonly appId: string; readonly scopes: readonly string[] },
): Embedder {
  const remembered = new Map<string, readonly number[]>()
  const restsUntil = new Map<string, number>()

  async function embed({ organizationId, forUser, texts, timeoutMs }: Embedding): Promise<readonly (readonly number[])[]> {
    const viewer = { userId: null, organizationId, roles: [], scopes, context: 'organization' as const }
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const asking = ask(EmbedDocument, { input: { model, texts, fallback: false } }, { appId, viewer, forUser, timeoutMs, signal })
      const { createEmbeddings: answer } = await Promise.race([asking, aborted(signal)])
      if (answer?.vectors.length !== texts.length) throw new Error('The model did not make a vector of each text.')
      return answer.vectors
    } catch (error) {
      throw new ModelFailure(failureOf(error, signal.aborted), error)
    }
  }

  function failed(organizationId: string, error: unknown): void {
    const { code, message } = failureOf(error, false)
    log.warn({ organizationId, code, reason: message }, 'a question got no vector, or could not be answered by it; passages are found by their words')
    keep(restsUntil, organizationId, monotonicMs() + restMs, kept.organizations)
  }

  const isResting = (organizationId: string) => (restsUntil.get(organizationId) ?? 0) > monotonicMs()

  return {
    model,
    embed,
    failed,
    async question({ organizationId, forUser, text }) {
      if (isResting(organizationId)) return null
      const key = `${organizationId} ${text}`
      const known = remembered.get(key)
      if (known) return known
      try {
        const [vector] = await embed({ organizationId, forUser, texts: [text], timeoutMs: questionMs })
        keep(remembered, key, vector!, kept.questions)
        return vector!
      } catch (error) {
        failed(organizationId, error)
        return null
      }
    },
  }
}

/** Rejects once a signal aborts. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
