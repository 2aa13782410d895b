import { createHash } from 'node:crypto'
import type { Deps } from '../network.ts'
import type { Collection } from '../state.ts'

/** Tokens of a prompt by what its vendor's cache does with them: a token is a word here. */
export interface Kept {
  /** Found in the cache. */
  readonly read: number
  /** Put into it, for five minutes and for an hour. */
  readonly writtenShort: number
  readonly writtenLong: number
}

/** A piece of a prompt. */
export interface Piece {
  /** All that it says, to be compared. */
  readonly content: string
  readonly words: number
  /** For how long everything up to here is to be kept, in ms; null: not because of this piece. */
  readonly keepMs: number | null
}

export const [shortMs, longMs] = [5 * 60_000, 60 * 60_000]

/** The shortest prompt that is kept: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching, https://platform.openai.com/docs/guides/prompt-caching. */
const fewestWords = 1_024
/** By how many tokens OpenAI's cache grows. */
const stepWords = 128

/** What a vendor keeps of prompts: until when, by what they begin with. */
export function openCaches(name: string, { state, clock }: Deps) {
  const kept: Collection<{ readonly until: number }> = state.collection(`${name}.caches`, 5_000)
  const now = () => clock.now().getTime()
  const has = (key: string) => (kept.get(key)?.until ?? 0) > now()

  return {
    /** Keeps what a request asks for, piece by piece. @param owner whose prompts and model's they are */
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

    /** Keeps every long prompt by itself. @returns how many of its words were found */
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
