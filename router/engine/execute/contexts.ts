import type { FetchNodePathSegment } from '@graphql-hive/router-query-planner'
import { type DocumentNode, Kind, type OperationDefinitionNode, print, type SelectionSetNode, stripIgnoredCharacters, visit } from 'graphql'
import { type Data, isData } from '../data/merge.ts'
import type { Fetch } from '../engine.ts'
import type { Place } from '../errors.ts'
import { type ContextValue, isContextual } from '../graph/contexts.ts'
import type { Supergraph } from '../supergraph.ts'
import { isOneOf } from './entities.ts'
import { createRepresentations, type Represent, type Representations } from './representations.ts'
import type { ContextFetch, Contexts, EntityGroup, EntityStep } from './step.ts'

/** Numbers of different sets of values that one request may hold, largest first. */
const sizes = [16, 8, 4, 2, 1] as const

/** Returns the fetches of a step for entities with several sets of values: the `_entities` field once for each set. */
export function contextsFor(values: readonly ContextValue[], fetch: Fetch): Contexts | null {
  if (values.length === 0) return null
  return { values, fetches: sizes.map(count => (count === 1 ? { fetch, keys: ['_entities'], suffixes: [''] } : repeated(fetch, count))) }
}

function repeated(fetch: Fetch, count: number): ContextFetch {
  const suffixes = Array.from({ length: count }, (_, at) => `_${at}`)
  const operation = fetch.document.definitions.find(each => each.kind === Kind.OPERATION_DEFINITION)!
  const [variables, own] = [operation.variableDefinitions ?? [], (name: string) => isContextual(name) || name === 'representations']
  const renamed = <Node extends SelectionSetNode | NonNullable<OperationDefinitionNode['variableDefinitions']>[number]>(node: Node, suffix: string): Node =>
    visit(node, { Variable: each => (own(each.name.value) ? { ...each, name: { ...each.name, value: each.name.value + suffix } } : undefined) })
  const selections = suffixes.flatMap(suffix =>
    renamed(operation.selectionSet, suffix).selections.map(each =>
      each.kind === Kind.FIELD ? { ...each, alias: { kind: Kind.NAME as const, value: `_entities${suffix}` } } : each,
    ),
  )
  const variableDefinitions = [
    ...variables.filter(({ variable }) => !own(variable.name.value)),
    ...suffixes.flatMap(suffix => variables.filter(({ variable }) => own(variable.name.value)).map(each => renamed(each, suffix))),
  ]
  const written: OperationDefinitionNode = { ...operation, variableDefinitions, selectionSet: { ...operation.selectionSet, selections } }
  const document: DocumentNode = { ...fetch.document, definitions: fetch.document.definitions.map(each => (each === operation ? written : each)) }
  return { fetch: { ...fetch, document, text: stripIgnoredCharacters(print(document)) }, keys: suffixes.map(suffix => `_entities${suffix}`), suffixes }
}

/** The entities of one step around which the same values stand. */
interface Alike {
  readonly values: Data
  readonly representations: Representations
  /** Objects that wait for each entity, by path of the step and index of the representation. */
  readonly waiting: Data[][][]
}

/** One request of a step whose entities take values from objects around them. */
export interface ContextRequest {
  readonly step: EntityStep
  readonly variables: Data
  readonly byVariable: ReadonlyMap<string, Representations>
  readonly waiting: readonly (readonly (readonly Data[][])[])[]
}

/**
 * Divides the entities of a step by the values around them, and returns the requests for them.
 * @param visitPath visits the objects at a path of the group with their places in the data
 */
export function contextRequests(
  step: EntityStep,
  { values, fetches }: Contexts,
  data: Data,
  supergraph: Supergraph,
  visitPath: (at: number, visit: (object: Data, place: Place) => void) => void,
): ContextRequest[] {
  const group = step.groups[0]!
  const divided = new Map<string, Alike>()
  for (const at of group.paths.keys()) {
    const represents = new Map<Alike, Represent>()
    visitPath(at, (object, place) => {
      const found = valuesAt(data, place, values, supergraph)
      const name = JSON.stringify(found)
      const alike = divided.get(name) ?? { values: found, representations: createRepresentations(), waiting: group.paths.map(() => []) }
      divided.set(name, alike)
      const represent = represents.get(alike) ?? group.representInto(alike.representations, group.types[at] ?? null)
      represents.set(alike, represent)
      const index = represent(object)
      if (index === -1) return
      const targets = alike.waiting[at]!
      if (targets[index]) targets[index].push(object)
      else targets[index] = [object]
    })
  }
  const all = [...divided.values()].filter(({ representations }) => representations.list.length > 0)
  const requests: ContextRequest[] = []
  for (const each of fetches) {
    const count = each.keys.length
    while (all.length >= count) requests.push(requestFor(step, group, each, all.splice(0, count)))
  }
  return requests
}

function requestFor(step: EntityStep, group: EntityGroup, { fetch, keys, suffixes }: ContextFetch, all: readonly Alike[]): ContextRequest {
  const variables: Data = {}
  const byVariable = new Map<string, Representations>()
  const groups = all.map(({ values, representations }, at) => {
    const suffix = suffixes[at]!
    for (const [name, value] of Object.entries(values)) variables[name + suffix] = value
    const name = group.representations + suffix
    byVariable.set(name, representations)
    return { ...group, key: keys[at]!, representations: name }
  })
  return { step: { ...step, fetch, groups }, variables, byVariable, waiting: all.map(({ waiting }) => waiting) }
}

/** Reads the values around an object. A value that stands nowhere stays absent, so that the subgraph takes its default. */
function valuesAt(data: Data, place: Place, values: readonly ContextValue[], supergraph: Supergraph): Data {
  const found: Data = {}
  for (const { variable, up, path } of values) {
    if (Object.hasOwn(found, variable)) continue
    const value = valueIn(above(data, place, up), path, 0, supergraph)
    if (value !== undefined) found[variable] = value
  }
  return found
}

/** Returns the object that stands a number of fields above a place. */
function above(data: Data, place: Place, up: number): unknown {
  let end = place.length
  for (let left = up; left > 0; left--) {
    while (typeof place[end - 1] === 'number') end--
    end--
  }
  let value: unknown = data
  for (const key of place.slice(0, Math.max(0, end))) value = (value as Record<string | number, unknown>)[key]
  return value
}

function valueIn(value: unknown, path: readonly FetchNodePathSegment[], at: number, supergraph: Supergraph): unknown {
  if (Array.isArray(value)) return value.map(each => valueIn(each, path, at, supergraph) ?? null)
  const segment = path[at]
  if (segment === undefined || value === null) return value
  if (!isData(value)) return undefined
  if ('Key' in segment) return Object.hasOwn(value, segment.Key) ? valueIn(value[segment.Key], path, at + 1, supergraph) : undefined
  return isOneOf(segment.TypenameEquals, value, supergraph) ? valueIn(value, path, at + 1, supergraph) : undefined
}
