import { LRUCache } from 'lru-cache'

/** What is kept under one key. */
export interface Kept {
  /** The value as JSON. */
  readonly text: string
  /** When it ends, in ms of the store's clock. */
  readonly until: number
  /** Whether caches that serve several clients must not keep it. */
  readonly isPrivate: boolean
  /** What it is dropped by (`label`). */
  readonly labels: readonly string[]
}

/** Under a key whose answers depend on more than the key: what they depend on. */
export interface Fork {
  /** Whether they are kept for each viewer. */
  readonly isPrivate: boolean
  /** Names of the request's headers on which they depend, sorted. */
  readonly vary: readonly string[]
  readonly until: number
  readonly labels: readonly string[]
}

/** Figures of the cache since the start, by type. */
export interface CacheCounts {
  hits: number
  misses: number
  bypasses: number
}

/** The last drop of a shared store that was known when a fetch began. */
export interface SharedMark {
  /** The state of the store to which the number belongs. */
  readonly epoch: string
  readonly drop: number
}

/** When a fetch began. */
export interface Mark {
  /** Number of the last drop in memory. */
  readonly sequence: number
  /** Null where there is no shared store, or it is not in use. */
  readonly shared: SharedMark | null
}

export interface ResponseCache {
  /** Whether what is kept may be used: not while changes may have been missed. */
  isCurrent(): boolean
  find(key: string): Kept | Fork | undefined
  /**
   * Fetches what memory does not have from a shared store, and returns null where there is nothing to wait for; null
   * where there is no such store.
   */
  readonly load: ((keys: readonly string[]) => Promise<void> | null) | null
  /** Begins a fetch. @returns a mark with which its answer is kept */
  begin(): Mark
  /**
   * Keeps an answer, unless something that it depends on was dropped since the mark.
   * @returns whether nothing was
   */
  keep(key: string, value: Kept | Fork, mark: Mark): boolean
  /** Drops what has one of the labels. @returns how many answers it were */
  drop(labels: readonly string[], cause: DropCause): number
  /** Resolves when drops have reached everything that is shared, or are known not to; null where they have. */
  settled(): Promise<void> | null
  /** Calls the listener after each drop that began here, so that the caches of other processes follow. */
  onDrop(listener: (labels: readonly string[], cause: DropCause) => void): void
  /** Drops what another process has dropped. */
  follow(labels: readonly string[], cause: DropCause): void
  /** Drops everything, because changes may have been missed. */
  clear(): void
  /** Milliseconds of the clock by which answers end. */
  now(): number
  count(type: string, what: keyof CacheCounts): void
  figures(): CacheFigures
}

/** Why answers were dropped: an event of a change, a mutation, a call of `POST /invalidation`, or changes that may have been missed. */
export const dropCauses = ['change', 'mutation', 'request', 'missed'] as const
export type DropCause = (typeof dropCauses)[number]

export const isDropCause = (text: string): text is DropCause => (dropCauses as readonly string[]).includes(text)

export interface CacheFigures {
  readonly entries: number
  readonly bytes: number
  readonly types: ReadonlyMap<string, CacheCounts>
  /** Number of drops by cause. */
  readonly drops: ReadonlyMap<DropCause, number>
  /** Number of commands of the shared store that failed or took too long. */
  readonly storeErrors: number
}

/** Labels by which answers are dropped. */
export const label = {
  subgraph: (subgraph: string) => `s ${subgraph}`,
  type: (subgraph: string, type: string) => `t ${subgraph} ${type}`,
  tag: (subgraph: string, tag: string) => `c ${subgraph} ${tag}`,
  /** Answers behind access rules, and private ones, of an organization's viewers; null: of those in none. */
  owner: (subgraph: string, organizationId: string | null) => `o ${subgraph} ${organizationId ?? ''}`,
  /** Answers that are the same for everybody. */
  open: (subgraph: string) => `p ${subgraph}`,
}

/** Maximum number of dropped labels that are remembered, and of types that are counted separately. */
const most = { drops: 10_000, types: 200 }

/** Bytes of an entry beside its texts, and of one of its labels, as measured with Node 26. */
const [entryBytes, labelBytes] = [350, 120]

/** Name under which further types are counted. */
const otherTypes = 'other'

/**
 * Keeps answers in memory; the least recently used go first.
 * @param mostBytes of all entries together
 * @param now       milliseconds of a monotonic clock
 */
export function createResponseCache(mostBytes: number, now: () => number = () => performance.now()): ResponseCache {
  const byLabel = new Map<string, Set<string>>()
  const entries = new LRUCache<string, Kept | Fork>({
    maxSize: mostBytes,
    sizeCalculation: (value, key) => sizeOf(key, value),
    dispose(value, key) {
      for (const each of value.labels) {
        const keys = byLabel.get(each)
        keys?.delete(key)
        if (keys?.size === 0) byLabel.delete(each)
      }
    },
  })
  /** The latest drop of each label, oldest first; what was dropped before `floor` is forgotten. */
  const dropped = new Map<string, number>()
  let [sequence, floor] = [0, 0]
  const types = new Map<string, CacheCounts>()
  const drops = new Map<DropCause, number>()

  const remember = (each: string) => {
    dropped.delete(each)
    dropped.set(each, sequence)
    if (dropped.size <= most.drops) return
    const [oldest, at] = dropped.entries().next().value!
    dropped.delete(oldest)
    floor = at
  }
  const listeners: ((labels: readonly string[], cause: DropCause) => void)[] = []
  const drop = (labels: readonly string[], cause: DropCause) => {
    sequence += 1
    let count = 0
    for (const each of labels) {
      remember(each)
      for (const key of [...(byLabel.get(each) ?? [])]) {
        if ('text' in entries.peek(key)!) count += 1
        entries.delete(key)
      }
    }
    counts(cause)
    return count
  }
  const counts = (cause: DropCause) => drops.set(cause, (drops.get(cause) ?? 0) + 1)
  return {
    now,
    isCurrent: () => true,
    load: null,
    settled: () => null,
    find(key) {
      const found = entries.get(key)
      if (found === undefined || found.until > now()) return found
      entries.delete(key)
      return undefined
    },
    begin: () => ({ sequence, shared: null }),
    keep(key, value, { sequence: mark }) {
      if (mark < floor || value.until <= now()) return false
      if (value.labels.some(each => (dropped.get(each) ?? 0) > mark)) return false
      if (sizeOf(key, value) > mostBytes) return true
      entries.set(key, value)
      for (const each of value.labels) {
        const keys = byLabel.get(each)
        if (keys) keys.add(key)
        else byLabel.set(each, new Set([key]))
      }
      return true
    },
    drop(labels, cause) {
      const count = drop(labels, cause)
      for (const listener of listeners) listener(labels, cause)
      return count
    },
    follow: (labels, cause) => void drop(labels, cause),
    onDrop: listener => void listeners.push(listener),
    clear() {
      sequence += 1
      floor = sequence
      dropped.clear()
      entries.clear()
      counts('missed')
    },
    count(type, what) {
      let found = types.get(type)
      if (!found) {
        const name = types.size < most.types ? type : otherTypes
        found = types.get(name) ?? { hits: 0, misses: 0, bypasses: 0 }
        types.set(name, found)
      }
      found[what] += 1
    },
    figures: () => ({ entries: entries.size, bytes: entries.calculatedSize, types, drops, storeErrors: 0 }),
  }
}

/** Approximate bytes of an entry: texts of other scripts than Latin take two bytes a character. */
function sizeOf(key: string, value: Kept | Fork): number {
  let bytes = entryBytes + 2 * key.length + ('text' in value ? 2 * value.text.length : 0)
  for (const each of value.labels) bytes += labelBytes + 2 * each.length
  return bytes
}
