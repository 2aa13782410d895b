import { createHash } from 'node:crypto'
import type { Deps } from '../network.ts'
import type { Collection } from '../state.ts'

/** Counts of a prompt's tokens by how the vendor's cache treated them; in the stand-in one token is one word. */
export interface Kept {
  /** Tokens found in the cache. */
  readonly read: number
  /** Tokens written to the cache for five minutes (short) or one hour (long). */
  readonly writtenShort: number
  readonly writtenLong: number
}

/** A piece of a prompt. */
export interface Piece {
  /** Full content of this piece, for comparison. */
  readonly content: string
  readonly words: number
  /**
   * How long the prompt up to and including this piece is cached, in ms; null when this piece carries no cache marker.
   */
  readonly keepMs: number | null
}

export const [shortMs, longMs] = [5 * 60_000, 60 * 60_000]

/**
 * Minimum length of a prompt that is cached, in words:
 * https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching,
 * https://platform.openai.com/docs/guides/prompt-caching.
 */
const fewestWords = 1_024
/** Step by which OpenAI's cached prefix grows, in tokens. */
const stepWords = 128

/** Opens the stand-in's prompt cache: it stores, per prompt prefix, the time until which the prefix is cached. */
export function openCaches(name: string, { state, clock }: Deps) {
  const kept: Collection<{ readonly until: number }> = state.collection(`${name}.caches`, 5_000)
  const now = () => clock.now().getTime()
  const has = (key: string) => (kept.get(key)?.until ?? 0) > now()

  return {
    /**
     * Caches what a request marks for caching, piece by piece. @param owner whose prompts these are, with the model's
     * name
     */
    asAsked(owner: string, pieces: readonly Piece[]): Kept {
      const hash = createHash('sha256').update(owner)
      let words = 0
      const ends = pieces.flatMap(({ content, words: own, keepMs }) => {
        hash.update(JSON.stringify(content))
        words += own
        return keepMs === null || words < fewestWords ? [] : [{ key: hash.copy().digest('hex'), words, keepMs }]
      })
      const found = ends.findLast(({ key }) => has(key))
      const added = ends.filter(end => end.words > (found?.words ?? 0))
      for (const { key, keepMs } of found ? [found, ...added] : added) kept.set(key, { until: now() + keepMs })
      let before = found?.words ?? 0
      const written = { short: 0, long: 0 }
      for (const { words: upTo, keepMs } of added) {
        written[keepMs > shortMs ? 'long' : 'short'] += upTo - before
        before = upTo
      }
      return { read: found?.words ?? 0, writtenShort: written.short, writtenLong: written.long }
    },

    /**
     * Caches every long prompt without being asked, as OpenAI does. @returns how many of its words were found in the
     * cache
     */
    byItself(owner: string, words: readonly string[]): number {
      const hash = createHash('sha256').update(owner)
      let read = 0
      for (let end = 0; end + stepWords <= words.length; end += stepWords) {
        hash.update(JSON.stringify(words.slice(end, end + stepWords)))
        const upTo = end + stepWords
        if (upTo < fewestWords) continue
        const key = hash.copy().digest('hex')
        if (has(key)) read = upTo
        kept.set(key, { until: now() + shortMs })
      }
      return read
    },
  }
}
