import { type Data, isData } from '../data/merge.ts'
import type { Place } from '../errors.ts'
import { bringers, type Deferral, isWithin } from '../operation/deferral.ts'
import { type FieldShape, type ObjectShape, runtimeShape, type Shape } from './shape.ts'
import { objectIn } from './view.ts'

/** An object of an incremental answer: its data, its selection, and what the client has received of it so far. */
export interface Spot {
  readonly data: Data
  readonly shape: ObjectShape
  readonly type: Shape
  readonly sent: Data
  /** Response keys and indexes from the root. */
  readonly path: Place
}

/** A deferred fragment at one object, or the other elements of a streamed list. */
export interface Part extends Spot {
  readonly deferral: Deferral
  /** The streamed list and the object that holds it, while `path` leads to the list; null for a fragment. */
  readonly list: { readonly field: FieldShape; readonly owner: Spot } | null
}

/** Response keys on the way to deferred fragments: objects off the way need not be searched. */
export type Ways = ReadonlyMap<string, Ways>

/** Collects the ways to all deferred fragments of an operation. */
export function waysTo(deferrals: readonly Deferral[]): Ways {
  type Open = Map<string, Open>
  const root: Open = new Map()
  for (const { path } of deferrals) {
    let at = root
    for (const key of path) {
      const next: Open = at.get(key) ?? new Map()
      at.set(key, next)
      at = next
    }
  }
  return root
}

/**
 * Finds the parts that are announced with a payload: fragments at objects that the client has received, nested directly
 * in what the payload brought. A fragment without fields of its own is no part; those nested in it take its place.
 * @param at       object that the payload completes
 * @param deferral fragment that the payload brought; null for the first payload
 * @param most     number of parts after which the search ends
 */
export function partsBelow(at: Spot, deferral: Deferral | null, ways: Ways, most: number): Part[] {
  const parts: Part[] = []
  let way: Ways | undefined = ways
  for (const segment of at.path) if (typeof segment === 'string') way = way?.get(segment)
  if (way) visit(at, new Set([deferral]), way)
  return parts

  function visit(spot: Spot, brought: ReadonlySet<Deferral | null>, way: Ways): void {
    let within = brought
    for (const each of spot.shape.begins) {
      if (parts.length >= most) return
      if (!within.has(each.parent)) continue
      if (brings(each, spot)) parts.push({ ...spot, deferral: each, list: null })
      else within = new Set([...within, each])
    }
    for (const field of spot.shape.fields) {
      const inner = way.get(field.responseKey)
      if (!inner || !isBrought(field, within)) continue
      if (field.stream && elementsOf(field, spot).length > sentOf(field, spot).length)
        parts.push({ ...spot, path: [...spot.path, field.responseKey], deferral: field.stream, list: { field, owner: spot } })
      const isFull = someObject(spot, field, object => {
        visit(object, within, inner)
        return parts.length >= most
      })
      if (isFull) return
    }
  }
}

const isBrought = ({ by }: FieldShape, brought: ReadonlySet<Deferral | null>): boolean => (by === null ? brought.has(null) : by.some(each => brought.has(each)))

/** Whether a fragment brings any field at an object, or at one below it that the client has, that nothing around it brings. */
const brings = (deferral: Deferral, spot: Spot): boolean =>
  spot.shape.fields.some(field => {
    if (!field.by?.includes(deferral)) return false
    return bringers(field.by)?.includes(deferral) || someObject(spot, field, inner => brings(deferral, inner))
  })

/** Visits the objects that a field of an object holds in what the client has received, until one fulfils a condition. @param from first element of a list */
export function someObject(spot: Spot, field: FieldShape, test: (spot: Spot) => boolean, from = 0): boolean {
  const shape = field.from === 'data' ? objectIn(field.value) : null
  return shape !== null && enter(heldBy(field, spot.data), spot.sent[field.responseKey], [...spot.path, field.responseKey], shape, from)

  function enter(data: unknown, sent: unknown, path: Place, shape: Shape, first = 0): boolean {
    if (Array.isArray(sent)) return Array.isArray(data) && sent.some((each, index) => index >= first && enter(data[index], each, [...path, index], shape))
    if (!isData(sent) || !isData(data)) return false
    const runtime = runtimeShape(shape, data)
    return runtime !== undefined && test({ data, sent, path, shape: runtime, type: shape })
  }
}

/** The elements of a streamed list; none where the client has received null. */
export const elementsOf = (field: FieldShape, spot: Spot): readonly unknown[] => {
  const list = Array.isArray(spot.sent[field.responseKey]) ? heldBy(field, spot.data) : null
  return Array.isArray(list) ? list : []
}

/** The elements of a streamed list that the client has received. */
export const sentOf = (field: FieldShape, spot: Spot): unknown[] => {
  const sent = spot.sent[field.responseKey]
  return Array.isArray(sent) ? sent : []
}

function heldBy(field: FieldShape, data: Data): unknown {
  if (Object.hasOwn(data, field.key)) return data[field.key]
  for (const key of field.otherKeys) if (Object.hasOwn(data, key)) return data[key]
  return undefined
}

/**
 * Returns the deferrals that bring the value at a path of the answer; null where the first payload shows it. Paths of
 * access errors have no list indexes.
 * @param firstOf returns the number of elements of a streamed list that come first
 */
export function bringersAt(shape: Shape, data: Data, path: Place, firstOf: (stream: Deferral) => number): readonly Deferral[] | null {
  let at: Shape | null = shape
  let value: unknown = data
  let found: readonly Deferral[] | null = null
  let list: Deferral | null = null
  let stream: Deferral | null = null
  for (const segment of path) {
    if (typeof segment === 'number') {
      value = Array.isArray(value) ? value[segment] : undefined
      if (list && segment >= firstOf(list)) {
        stream = list
        found = [stream]
      }
      list = null
      continue
    }
    const field: FieldShape | undefined = at ? fieldIn(at, value, segment) : undefined
    if (!field) break
    const own = field.by ? bringers(field.by) : null
    const within: Deferral | null = stream
    found = within && (own === null || own.every(each => isWithin(within, each))) ? [within] : own
    list = field.stream
    value = isData(value) ? heldBy(field, value) : undefined
    at = objectIn(field.value)
  }
  return found
}

function fieldIn(shape: Shape, value: unknown, responseKey: string): FieldShape | undefined {
  const named = (object: ObjectShape | undefined) => object?.fields.find(field => field.responseKey === responseKey)
  const known = isData(value) ? runtimeShape(shape, value) : undefined
  const found = named(known) ?? named(shape.common)
  if (found || known?.typename) return found
  for (const name of shape.possibleTypes()) {
    const field = named(shape.of(name))
    if (field) return field
  }
  return undefined
}

/** Whether one path leads to another one, or the other way round; indexes count where both have them. */
export function areRelated(one: Place, other: Place): boolean {
  const indexed = one.some(segment => typeof segment === 'number') && other.some(segment => typeof segment === 'number')
  const [first, second] = indexed ? [one, other] : [namesIn(one), namesIn(other)]
  const length = Math.min(first.length, second.length)
  for (let index = 0; index < length; index++) if (first[index] !== second[index]) return false
  return true
}

const namesIn = (path: Place): Place => path.filter(segment => typeof segment === 'string')

/** Whether a fragment, or one nested in it, selects a field. */
export const isOfOrWithin =
  (deferral: Deferral) =>
  ({ by }: FieldShape): boolean =>
    by?.some(each => each !== null && isWithin(each, deferral)) ?? false
