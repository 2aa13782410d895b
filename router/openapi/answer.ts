import { type GraphQLObjectType, isEnumType } from 'graphql'
import type { JsonSchema, OperationRow, RowReply } from '../rest/row.ts'
import { leafSchema, type Named, orNull, withDescription } from './schema.ts'
import type { Answerable, Holder, Leaf } from './stand-ins.ts'

/** What a row's mapper makes of an answer, as it was seen to. */
export interface Seen {
  /** The usual one first. */
  readonly statuses: readonly number[]
  /** Names of headers, in lower case. */
  readonly headers: readonly string[]
  /** Null where no body is sent. */
  readonly body: JsonSchema | null
}

/** A place of a mapper's body. */
interface Place {
  readonly value: unknown
  readonly entries: ReadonlyMap<string, Place> | null
  readonly item: Place | null
  nullable: boolean
  optional: boolean
  /** The Boolean that it changes with. */
  follows: Leaf | null
}

/**
 * Finds out what a row answers by watching its mapper at work: it is handed an answer in which every place holds a value of its own, and
 * where that turns up is what the place is called here. Then each value in turn is null, each list empty and each Boolean the other one:
 * what becomes null, or goes, may be null, or missing, and each status that comes of it is one of its own. Mappers rename, nest and format and never decide, so that this sees all of it.
 * @throws Error with what the row would have to do otherwise
 */
export function seeAnswer(row: OperationRow, answerable: Answerable, named: Named, name: string): Seen {
  const { leaves, holders } = answerable
  const plain = row.reply(answerable.answer())
  if (!plain) throw new Error('the mapper makes nothing of an answer in which everything is there')
  const { status, headers = {}, body } = plain
  const known = { headers: Object.keys(headers).map(each => each.toLowerCase()) }
  if (body === undefined) return { ...known, statuses: [status ?? 204], body: null }

  const place = placeOf(body)
  const statuses = new Set([status ?? 200])
  const look = (at: string, value: unknown, flipped: Leaf | null = null) => {
    const other = tried(row, answerable, at, value)
    if (other?.body === undefined) return
    statuses.add(other.status ?? 200)
    compare(place, other.body, flipped)
  }
  for (const each of [...leaves, ...holders]) if (each.nullable) look(each.at, null)
  for (const { at, isList } of holders) if (isList) look(at, [])
  for (const leaf of leaves) if (leaf.standIn === true) look(leaf.at, false, leaf)
  const telling: Telling = { leaves, holders, named, operation: name, path: '' }
  const schema = schemaOf(place, telling)
  return { ...known, statuses: [...statuses], body: 'properties' in schema ? nameIt(place, schema, telling, name) : schema }
}

/** The reply with one value changed; null where there is none then. */
function tried(row: OperationRow, { answer }: Answerable, at: string, value: unknown): RowReply | null {
  try {
    return row.reply(answer(new Map([[at, value]])))
  } catch {
    // A mapper may rely on what the graph promises elsewhere: without its root there is no answer.
    return null
  }
}

function placeOf(value: unknown): Place {
  const made = { value, nullable: false, optional: false, follows: null }
  if (Array.isArray(value)) return { ...made, entries: null, item: value.length > 0 ? placeOf(value[0]) : null }
  if (typeof value !== 'object' || value === null) return { ...made, entries: null, item: null }
  return { ...made, item: null, entries: new Map(Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, placeOf(inner)]]))) }
}

/** Notes what is otherwise in another body. @param flipped the Boolean that was changed for it */
function compare(place: Place, other: unknown, flipped: Leaf | null): void {
  if (other === null) {
    place.nullable = true
    return
  }
  if (flipped && typeof place.value === 'boolean' && other !== place.value) place.follows = flipped
  if (place.item && Array.isArray(other) && other.length > 0) compare(place.item, other[0], flipped)
  if (!place.entries || typeof other !== 'object' || Array.isArray(other)) return
  for (const [key, inner] of place.entries) {
    const found = (other as Record<string, unknown>)[key]
    if (found === undefined) inner.optional = true
    else compare(inner, found, flipped)
  }
}

interface Telling {
  readonly leaves: readonly Leaf[]
  readonly holders: readonly Holder[]
  readonly named: Named
  /** The operation's name, for what has none of its own. */
  readonly operation: string
  readonly path: string
}

function schemaOf(place: Place, telling: Telling): JsonSchema {
  const { value, entries, item } = place
  const below = (step: string): Telling => ({ ...telling, path: telling.path === '' ? step : `${telling.path}.${step}` })
  if (Array.isArray(value)) {
    const items = item ? schemaOf(item, below('[]')) : {}
    return nulled(place, { type: 'array', items: item && 'properties' in items ? nameIt(item, items, telling) : items })
  }
  const leaf = leafOf(place, telling)
  if (leaf) return nulled(place, withDescription(leafSchema(leaf.type, telling.named), leaf.description))
  if (!entries) return nulled(place, { type: typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value })
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const [key, inner] of entries) {
    const source = inner.entries || inner.item ? sourceOf(inner, telling) : null
    const made = schemaOf(inner, below(key))
    properties[key] = made.description || '$ref' in made ? made : withDescription(made, source?.description)
    if (!inner.optional) required.push(key)
  }
  return nulled(place, { type: 'object', properties, ...(required.length > 0 && { required }) })
}

const nulled = (place: Place, schema: JsonSchema): JsonSchema => (place.nullable ? orNull(schema) : schema)

/** The place of the graph's answer whose value stands in a place of the body. */
function leafOf({ value, follows }: Place, { leaves, path }: Telling): Leaf | null {
  if (follows) return follows
  const text = typeof value === 'string' ? value : null
  const found = leaves.find(
    ({ standIn }) => standIn !== true && (standIn === value || (text !== null && typeof standIn === 'string' && standIn.toLowerCase() === text)),
  )
  if (found && isEnumType(found.type) && found.standIn === value) throw new Error(`${path} answers an enum as the graph writes it: hand it through fromEnum`)
  return found ?? null
}

/** The object, or list, of the graph's answer that most of an object's own values come from. */
function sourceOf(place: Place, telling: Telling): Holder | null {
  const object = place.item ?? place
  const owners = [...(object.entries?.values() ?? [])].flatMap(inner => leafOf(inner, { ...telling, path: '' })?.owner ?? [])
  const counted = Map.groupBy(owners, owner => owner)
  const most = [...counted].sort(([, a], [, b]) => b.length - a.length)[0]?.[0]
  return telling.holders.find(({ at }) => at === (most ?? (leafOf(object, telling)?.at ?? '').replace(/\[\]$/, ''))) ?? null
}

/** Gives a record a name of its own: that of its type, or the operation's where it is made of several. */
function nameIt(place: Place, schema: JsonSchema, telling: Telling, otherwise?: string): JsonSchema {
  const source = sourceOf(place, telling)
  const type = source?.type as GraphQLObjectType | undefined
  const whole = !type || /^PageInfo$|Connection$/.test(type.name) ? null : type
  const name = whole?.name ?? otherwise
  return name ? telling.named.add(name, withDescription(schema, whole?.description), `${telling.operation}${whole?.name ?? 'Answer'}`) : schema
}
