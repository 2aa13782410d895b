import type { FetchRewrite, RequiresSelection } from '@graphql-hive/router-query-planner'
import { generate, literal, warming } from '../data/code.ts'
import type { Data } from '../data/merge.ts'
import type { Supergraph } from '../supergraph.ts'
import { representationOf } from './entities.ts'

/** The distinct representations that one variable of one fetch holds. */
export interface Representations {
  readonly list: Data[]
  /** Indexes by JSON text, for representations that had to be compared as text. */
  readonly texts: Map<string, number>
  /** Indexes by the first value, for each set of fields. */
  readonly byValue: Map<string, ByValue>
}

/** Maps a first value to a chain of representations that differ in their other values. */
type ByValue = Map<unknown, Link>

interface Link {
  readonly index: number
  readonly next: Link | undefined
}

export const createRepresentations = (): Representations => ({ list: [], texts: new Map(), byValue: new Map() })

/** Adds the representation of an object and returns its index; -1 when it would hold nothing but the type. */
export type Represent = (object: Data) => number

/**
 * Creates the function that adds to one set of representations.
 * @param known type of all the objects where `__typename` was not fetched; null where each object holds its own
 */
export type RepresentInto = (into: Representations, known: string | null) => Represent

/** Finds or adds a representation of plain values; undefined when one of the values is not plain. */
type Find = (object: Data, list: Data[], known: ByValue) => number | undefined

/** The selection of a representation for objects of one type. */
interface Flat {
  /**
   * Signature that is equal for equal keys in the same order, and so for all representations that can be equal as text.
   */
  readonly signature: string
  find(): Find
}

/**
 * Creates a function that builds representations of entities. Most consist of a few plain values: those are compared
 * directly, and a repeated entity allocates nothing. All others are compared as JSON text.
 */
export function createRepresent(requires: readonly RequiresSelection[], rewrites: readonly FetchRewrite[], supergraph: Supergraph): RepresentInto {
  const flats = new Map<string, Flat | null>()
  const flatOf = (typename: string): Flat | null => {
    const known = flats.get(typename)
    if (known !== undefined) return known
    // Unknown type names are not cached, because they would accumulate.
    if (!supergraph.isObject(typename)) return null
    const fields = rewrites.length === 0 ? plainFields(requires, typename, supergraph) : null
    const flat = fields && {
      signature: JSON.stringify([typename, ...fields]),
      find: warming(interpretedFind(typename, fields), () => generateFind(typename, fields)),
    }
    flats.set(typename, flat)
    return flat
  }
  const byText = (object: Data, into: Representations, typename: string | null): number => {
    const named = typename !== null && object.__typename !== typename ? { ...object, __typename: typename } : object
    const representation = representationOf(named, requires, rewrites, supergraph)
    if (!representation) return -1
    const text = JSON.stringify(representation)
    let index = into.texts.get(text)
    if (index === undefined) {
      index = into.list.push(representation) - 1
      into.texts.set(text, index)
    }
    return index
  }
  return (into, typename) => {
    // The next object nearly always has the same type as the last one.
    let type: unknown
    let find: Find | null = null
    let known: ByValue = new Map()
    return object => {
      // Unrequested entities are ignored: some subgraphs return more than was requested.
      const own = typename ?? object.__typename
      if (own !== type) {
        type = own
        const flat = typeof own === 'string' ? flatOf(own) : null
        find = flat ? flat.find() : null
        if (flat) {
          known = into.byValue.get(flat.signature) ?? new Map()
          into.byValue.set(flat.signature, known)
        }
      }
      return find?.(object, into.list, known) ?? byText(object, into, typename)
    }
  }
}

/** Fields that represent an object of a type, as [key, key in the data]; null unless all are leaves or `__typename`. */
function plainFields(requires: readonly RequiresSelection[], typename: string, supergraph: Supergraph): [string, string][] | null {
  const fields = new Map<string, string>()
  return collect(requires) && fields.delete('__typename') && fields.size > 0 ? [...fields] : null

  function collect(selections: readonly RequiresSelection[]): boolean {
    return selections.every(selection => {
      if (selection.kind === 'InlineFragment') return !supergraph.covers(selection.typeCondition, typename) || collect(selection.selections)
      if (selection.kind !== 'Field' || selection.selections?.length) return false
      const key = selection.alias ?? selection.name
      if ((key === '__typename') !== (selection.name === '__typename') || key in Object.prototype || selection.name in Object.prototype) return false
      if (fields.has(key) && fields.get(key) !== selection.name) return false
      fields.set(key, selection.name)
      return true
    })
  }
}

/** Whether a value is plain; an absent value or an object can only be compared as text. */
const isPlain = (value: unknown) => value !== undefined && (typeof value !== 'object' || value === null)

function interpretedFind(typename: string, fields: readonly [string, string][]): Find {
  return (object, list, known) => {
    for (const [, name] of fields) if (!isPlain(object[name])) return undefined
    const first = object[fields[0]![1]]
    const chain = known.get(first)
    for (let link = chain; link; link = link.next) {
      const earlier = list[link.index]!
      if (fields.every(([key, name]) => earlier[key] === object[name])) return link.index
    }
    const representation: Data = { __typename: typename }
    for (const [key, name] of fields) representation[key] = object[name]
    const index = list.push(representation) - 1
    known.set(first, { index, next: chain })
    return index
  }
}

function generateFind(typename: string, fields: readonly [string, string][]): Find {
  const values = fields.map((_, at) => `v${at}`)
  const same = fields.map(([key], at) => `earlier[${literal(key)}] === v${at}`).join(' && ')
  return generate<Find>(
    `return function find(object, list, known) {
${fields.map(([, name], at) => `const v${at} = object[${literal(name)}]`).join('\n')}
if (${values.map(value => `${value} === undefined || (typeof ${value} === 'object' && ${value} !== null)`).join(' || ')}) return undefined
const chain = known.get(v0)
for (let link = chain; link !== undefined; link = link.next) {
const earlier = list[link.index]
if (${same}) return link.index
}
const index = list.push({ __typename: ${literal(typename)}, ${fields.map(([key], at) => `${literal(key)}: v${at}`).join(', ')} }) - 1
known.set(v0, { index, next: chain })
return index
}`,
  )
}
