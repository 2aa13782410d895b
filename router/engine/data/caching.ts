import type { OperationCaching } from '../graph/keeping.ts'

/** How long one answer may be kept, and where it came from. */
export interface AnswerCaching {
  /** Whole seconds; 0 for an answer that may not be kept. */
  readonly maxAge: number
  /** Whether caches that serve several clients may keep it. */
  readonly isPublic: boolean
  /** Part of it that came from the response cache; null where there is none. */
  readonly state: CacheState | null
}

/**
 * State of a query's answer: no subgraph was asked; some of what was needed was in the cache; nothing of it was; the
 * cache was not asked.
 */
export type CacheState = 'hit' | 'partial' | 'miss' | 'bypass'

/** What a request wishes of the cache (`cache-control`): to use it, to renew it, or neither. */
export type CacheWish = 'use' | 'renew' | 'none'

/** A root field or entity, as a client that asks for it gets told about the cache. */
export interface CachedPart {
  readonly subgraph: string
  readonly type: string
  /** Name of the root field; null for an entity. */
  readonly field: string | null
  readonly state: 'hit' | 'miss' | 'bypass'
  /** Seconds; null where it may not be kept. */
  readonly maxAge: number | null
  readonly scope: 'PUBLIC' | 'PRIVATE'
}

/** How long the answer of one query may be kept: the least of all that it is made of. */
export class Caching {
  readonly wish: CacheWish
  /** Whether a response cache is in use. */
  readonly isOn: boolean
  /** Whether the schema says something about each root field of the operation. */
  readonly isSaid: boolean
  /** Labels of progressive overrides that are active, as text. */
  readonly labels: string
  /** Parts that the client is told about; null where it did not ask. */
  readonly parts: CachedPart[] | null
  #maxAge: number
  #isPrivate: boolean
  readonly #isGuarded: boolean
  /** Root fields and entities that came from the cache, and requests to subgraphs. */
  #hits = 0
  #fetches = 0
  /** Whether the cache could not be asked for some part. */
  #isPassed = false

  constructor({ maxAge, isPrivate, isGuarded, isSaid }: OperationCaching, isOn: boolean, wish: CacheWish, labels: string, isShown: boolean) {
    this.#maxAge = maxAge
    this.#isPrivate = isPrivate
    this.#isGuarded = isGuarded
    this.isSaid = isSaid
    this.isOn = isOn
    this.wish = wish
    this.labels = labels
    this.parts = isShown ? [] : null
  }

  /** Takes what is true of a part of the answer. @param maxAge seconds */
  restrict(maxAge: number, isPrivate: boolean): void {
    if (maxAge < this.#maxAge) this.#maxAge = maxAge
    if (isPrivate) this.#isPrivate = true
  }

  /** Counts a part that came from the cache. */
  hit(): void {
    this.#hits += 1
  }

  /** Notes that the cache is not asked for a part, because it may have missed changes. */
  pass(): void {
    this.#isPassed = true
  }

  /** Counts a request to a subgraph. */
  fetched(): void {
    this.#fetches += 1
  }

  /** @param isWhole whether the answer has data and no errors */
  told(isWhole: boolean): AnswerCaching {
    const maxAge = isWhole && Number.isFinite(this.#maxAge) ? Math.max(0, Math.floor(this.#maxAge)) : 0
    return { maxAge, isPublic: !this.#isPrivate && !this.#isGuarded, state: this.isOn ? this.#state() : null }
  }

  #state(): CacheState {
    if (this.wish !== 'use' || (this.#isPassed && this.#hits === 0)) return 'bypass'
    if (this.#fetches === 0) return 'hit'
    return this.#hits > 0 ? 'partial' : 'miss'
  }
}
