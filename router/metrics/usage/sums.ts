import { createHash } from 'node:crypto'
import type { ClientProgram } from '../../../platform/caller/cause.ts'
import { type ClientLimits, createClients, otherName } from './clients.ts'

/** How often one client used the same coordinates by the same operation on one UTC day. */
export interface Sum {
  /** What identifies it: equal in every process. */
  readonly key: string
  /** `2026-11-28` */
  readonly day: string
  readonly client: string
  readonly version: string
  /** Name of the variant; empty for the whole graph. */
  readonly variant: string
  readonly operation: string
  /** Hash of the normalised document; empty where several were added up. */
  readonly document: string
  readonly coordinates: readonly string[]
}

/** What was added to a sum and is not stored yet. */
export interface Addition {
  readonly sum: Sum
  readonly count: number
  /** In ms since 1970. */
  readonly lastUsedAt: number
}

interface Counting extends Sum {
  count: number
  lastUsedAt: number
}

/** Where the uses of one client by one operation are counted. */
export interface Counter {
  /** Counts a use. @param at in ms since 1970 */
  count(at: number): void
}

/** Counts by client and operation within bounds, until what was counted is taken to be stored. */
export interface Sums {
  /** The UTC day that is counted, a number that changes with it; counters and clients of a former day are not to be used any more. */
  readonly day: number
  /** Distinct sums of the day: one for each coordinate. */
  readonly size: number
  /** Begins a new day where one has begun. @param at in ms since 1970 */
  turn(at: number): void
  /** Returns the same object for the same client on one day. */
  clientOf(program: ClientProgram): ClientProgram
  /** Returns null where the bound of the day is reached. @param variant empty for the whole graph */
  counterOf(client: ClientProgram, operation: string, document: string, coordinates: readonly string[], variant?: string): Counter | null
  /** Counts coordinates as used by the client and operation `other`. */
  otherCounterOf(coordinates: readonly string[]): Counter
  /** Takes what was counted since the last time. */
  take(): readonly Addition[]
  /** Puts back what could not be stored. @returns the number of uses that are dropped, because their day is too long ago */
  putBack(additions: readonly Addition[]): number
}

const dayMs = 86_400_000

/** Returns the number of a moment's UTC day. @param at in ms since 1970 */
export const dayNumberOf = (at: number): number => Math.floor(at / dayMs)

/** Returns the UTC day of a moment. @param at in ms since 1970 */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Bounds of one process for one day. */
export interface SumLimits extends ClientLimits {
  /** Distinct sums, each of one coordinate; what comes later counts as client and operation `other`. @default 100000 */
  readonly sums?: number | undefined
}

/** @param at the present moment, in ms since 1970 */
export function createSums(at: number, { sums: mostSums = 100_000, ...clientLimits }: SumLimits = {}): Sums {
  let day = dayNumberOf(at)
  let size = 0
  let isFull = false
  let known = new Map<string, Counter>()
  /** Of what exceeds the bound: of coordinates the schema has so many and no more. */
  let others = new Map<string, Counting>()
  let clientOf = createClients(clientLimits)
  /** Sums with uses that were not taken yet. */
  const waiting = new Set<Counting>()

  const add = (sum: Counting, uses: number, at: number) => {
    if (sum.count === 0) waiting.add(sum)
    sum.count += uses
    if (at > sum.lastUsedAt) sum.lastUsedAt = at
  }
  const otherOf = (coordinate: string): Counting => {
    const found = others.get(coordinate)
    if (found) return found
    const made = begin(day, { name: otherName, version: otherName }, { variant: '', operation: otherName, document: '' }, [coordinate])
    others.set(coordinate, made)
    return made
  }

  return {
    get day() {
      return day
    },
    get size() {
      return size
    },
    turn(at) {
      const today = dayNumberOf(at)
      if (today <= day) return
      day = today
      size = 0
      isFull = false
      known = new Map()
      others = new Map()
      clientOf = createClients(clientLimits)
    },
    clientOf: program => clientOf(program),
    counterOf(client, operation, document, coordinates, variant = '') {
      if (isFull) return null
      const sum = begin(day, client, { variant, operation, document }, coordinates)
      const found = known.get(sum.key)
      if (found) return found
      isFull = size + coordinates.length > mostSums
      if (isFull) return null
      size += coordinates.length
      const counter: Counter = { count: at => add(sum, 1, at) }
      known.set(sum.key, counter)
      return counter
    },
    otherCounterOf(coordinates) {
      const parts = coordinates.map(otherOf)
      return {
        count(at) {
          for (const part of parts) add(part, 1, at)
        },
      }
    },
    take() {
      const taken = [...waiting].map(sum => ({ sum, count: sum.count, lastUsedAt: sum.lastUsedAt }))
      for (const sum of waiting) sum.count = 0
      waiting.clear()
      return taken
    },
    putBack(additions) {
      const oldest = dayOf((day - 1) * dayMs)
      let dropped = 0
      for (const { sum, count, lastUsedAt } of additions) {
        if (sum.day < oldest) dropped += count
        else add(sum as Counting, count, lastUsedAt)
      }
      return dropped
    },
  }
}

function begin(
  day: number,
  client: ClientProgram,
  { variant, operation, document }: Pick<Sum, 'variant' | 'operation' | 'document'>,
  coordinates: readonly string[],
): Counting {
  const { name, version } = client
  const named = { day: dayOf(day * dayMs), client: name, version, variant, operation, document }
  const key = createHash('sha256')
    .update([...Object.values(named), ...coordinates].join('\n'))
    .digest('base64url')
  return { ...named, key, coordinates, count: 0, lastUsedAt: 0 }
}
