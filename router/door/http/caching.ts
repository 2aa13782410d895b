import { type Answer, caching, type IncrementalAnswer } from '../../engine/engine.ts'

/** Request headers that say who asks. */
const credentials = 'authorization, cookie, x-api-key'

/**
 * Returns the headers that say how long an answer may be kept, and where it came from; none for one that may not be
 * kept. `Origin` is added to every `vary`.
 */
export function cachingHeaders(answer: Answer | IncrementalAnswer): Readonly<Record<string, string>> | undefined {
  const kept = answer[caching]
  if (!kept) return undefined
  const { maxAge, isPublic, state } = kept
  return {
    ...(maxAge > 0 && {
      'cache-control': `max-age=${maxAge}, ${isPublic ? 'public' : 'private'}`,
      vary: isPublic ? 'accept' : `accept, ${credentials}`,
    }),
    ...(state && { 'x-response-cache': state }),
  }
}
