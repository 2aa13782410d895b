import type { Order } from '../../../../platform/page.ts'
import type { ProcessorRecordType } from '../../resolvers.generated.ts'

/** Every kind of record, in the order used for records of the same second. */
export const recordTypes = ['PAYMENT_INTENT', 'REFUND', 'TRANSFER', 'TRANSFER_REVERSAL', 'DISPUTE'] as const satisfies readonly ProcessorRecordType[]

/** An entry of one of the processor's lists, each with its own order and cursor. */
export interface Listed<Value> {
  readonly type: ProcessorRecordType
  /** Cursor of the entry in its list. */
  readonly at: string
  /** Seconds since 1970. */
  readonly created: number
  readonly value: Value
}

/** A part of one list, the newest first. */
export interface Part<Value> {
  readonly type: ProcessorRecordType
  readonly entries: readonly Listed<Value>[]
  readonly hasMore: boolean
}

/** Position in the lists: the last shown entry of each type, and the newest possible creation time of the next. */
export interface Place {
  readonly created: number | null
  readonly after: Readonly<Partial<Record<ProcessorRecordType, string>>>
}

export const start: Place = { created: null, after: {} }

/** An entry with the position after it. */
export interface Shown<Value> extends Listed<Value> {
  readonly place: Place
}

/**
 * Merges parts of lists into one, the newest first; entries of one second by type, then in their list's order. Each
 * part begins at its list's position, so nothing is repeated, and nothing is omitted if a part is no shorter than the
 * page.
 * @returns at most `first`, and whether more follows
 */
export function merge<Value>(
  parts: readonly Part<Value>[],
  from: Place,
  first: number,
): { readonly shown: readonly Shown<Value>[]; readonly hasMore: boolean } {
  const rank = (type: ProcessorRecordType): number => recordTypes.indexOf(type)
  const all = parts
    .flatMap(({ entries }) => entries.map((entry, index) => ({ entry, index })))
    .sort((one, other) => other.entry.created - one.entry.created || rank(one.entry.type) - rank(other.entry.type) || one.index - other.index)
  let place = from
  const shown = all.slice(0, first).map(({ entry }) => {
    place = { created: entry.created, after: { ...place.after, [entry.type]: entry.at } }
    return { ...entry, place }
  })
  return { shown, hasMore: all.length > shown.length || parts.some(({ hasMore }) => hasMore) }
}

const isSeconds = (value: string): boolean => /^\d{1,12}$/.test(value)
const isPlace = (value: string): boolean => /^[\w-]{0,255}$/.test(value)

/** Converts positions to and from cursors. */
export const order: Order<{ readonly place: Place }> = {
  name: 'processor.records',
  position: ({ place }) => [String(place.created ?? 0), ...recordTypes.map(type => place.after[type] ?? '')],
  parts: [isSeconds, ...recordTypes.map(() => isPlace)],
}

/** Returns a cursor's position in the lists. */
export function placeOf(position: readonly string[] | null): Place {
  if (position === null) return start
  const [created, ...after] = position
  return { created: Number(created), after: Object.fromEntries(recordTypes.flatMap((type, index) => (after[index] ? [[type, after[index]]] : []))) }
}
