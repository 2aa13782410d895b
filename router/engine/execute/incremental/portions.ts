import type { EntityBatchAlias, FetchRewrite, RequiresSelection } from '@graphql-hive/router-query-planner'
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  stripIgnoredCharacters,
  visit,
} from 'graphql'
import type { ContextValue } from '../../graph/contexts.ts'
import { bringers, type Deferral } from '../../operation/deferral.ts'
import type { Keyed } from '../../repairs/hive-inner-aliases/inner-names.ts'
import type { Supergraph } from '../../supergraph.ts'
import { type Need, needAt, needBelow } from '../needs.ts'
import type { Path } from '../plan-tree.ts'

/** The part of one planned fetch that the same payloads of an incremental answer need. */
export interface Portion {
  readonly fetch: Keyed
  /** Deferrals whose parts wait for the portion; null where the first payload does. */
  readonly for: readonly Deferral[] | null
}

type Known = Pick<Supergraph, 'isObject' | 'interfaceObjects'>

/** The values of one fetch that are fetched together or not at all: a root field, or a field of its entities. */
interface Piece {
  readonly group: EntityBatchAlias | null
  readonly key: string
  readonly nodes: FieldNode[]
  /** Whether the piece is the name of an object's type, which other pieces do not tell. */
  readonly isType: boolean
}

/**
 * Divides the fetches of one operation by the payloads that need them. Root fields of queries and fields of entities are
 * divided; what is below them stays together, so that no field is fetched twice and no list is read at two moments.
 * @param fetches in the order of the plan
 * @param needs   which payloads show which values; fetches add what they require
 */
export function portionsOf(fetches: readonly Keyed[], needs: Need, supergraph: Known): readonly (readonly Portion[])[] {
  const read = fetches.map(planned => {
    const fetch = withoutFragments(planned)
    return { planned, fetch, pieces: piecesOf(fetch, supergraph), renamed: renamedBy(fetch) }
  })
  for (let before = -1, after = 0; before !== after; ) {
    before = after
    for (const { fetch, pieces, renamed } of read) {
      for (const group of fetch.groups) {
        const by = new Set(pieces.filter(piece => piece.group === group).flatMap(piece => [...neededBy(piece, fetch, needs, renamed)]))
        for (const path of group.paths) {
          require(needAt(needs, path), group.requires, by)
          for (const context of fetch.contexts) require(needAt(needs, around(path, context.up)), requiredBy(context), by)
        }
      }
    }
    after = countIn(needs)
  }
  return read.map(({ planned, fetch, pieces, renamed }) => {
    const portions = divide(fetch, pieces, needs, renamed)
    return portions.length === 1 ? [{ fetch: planned, for: portions[0]!.for }] : portions
  })
}

function divide(fetch: Keyed, pieces: readonly Piece[], needs: Need, renamed: ReadonlyMap<string, string>): readonly Portion[] {
  const byPayload = new Map<string, { readonly for: Portion['for']; readonly pieces: Set<Piece> }>()
  const add = (piece: Piece, payloads: Portion['for']) => {
    const name = payloads?.map(({ id }) => id).join() ?? 'first'
    const known = byPayload.get(name)
    if (known) known.pieces.add(piece)
    else byPayload.set(name, { for: payloads, pieces: new Set([piece]) })
  }
  const operation = operationIn(fetch.document)
  // A mutation's fields, and the event of a subscription, are asked for once.
  if (fetch.groups.length === 0 && operation.operation !== 'query') return [{ fetch, for: null }]
  const decided = pieces.map(piece => ({ piece, payloads: bringers(neededBy(piece, fetch, needs, renamed)) }))
  const early = new Set(decided.filter(({ payloads }) => payloads === null).map(({ piece }) => piece.group))
  for (const { piece, payloads } of decided) {
    // What only later fetches require, such as a key, comes along with the first payload's fetch.
    const comesAlong = piece.group !== null && early.has(piece.group) && isRequiredLeaf(piece, needs)
    add(piece, comesAlong || payloads?.length === 0 ? null : payloads)
  }
  if (byPayload.size <= 1) return [{ fetch, for: byPayload.values().next().value?.for ?? null }]
  return [...byPayload.values()]
    .map(portion => ({ fetch: only(fetch, portion.pieces), for: portion.for }))
    .toSorted((one, other) => (one.for === null ? -1 : 0) - (other.for === null ? -1 : 0))
}

/** Payloads that need any value of a piece. */
function neededBy({ group, key, nodes, isType }: Piece, { groups }: Keyed, needs: Need, renamed: ReadonlyMap<string, string>): Set<Deferral | null> {
  const by = new Set<Deferral | null>()
  const places = group ? group.paths.map(path => needAt(needs, path)) : [needs]
  for (const place of places) {
    if (isType) for (const each of place.by) by.add(each)
    else for (const need of namedIn(place, key)) collect(need, nodes)
  }
  // Where nothing says who needs a fetch, the first payload waits for it.
  if (by.size === 0 && !isType && groups.length === 0) by.add(null)
  return by

  function namedIn(place: Need, key: string): Need[] {
    return [key, renamed.get(key)].flatMap(name => (name === undefined ? [] : (place.below.get(name) ?? [])))
  }

  function collect(need: Need, nodes: readonly FieldNode[]): void {
    for (const each of need.by) by.add(each)
    for (const { selectionSet } of nodes) if (selectionSet) collectSet(need, selectionSet)
  }

  function collectSet(place: Need, set: SelectionSetNode): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) collectSet(place, selection.selectionSet)
      else if (selection.kind === Kind.FIELD) for (const need of namedIn(place, keyOf(selection))) collect(need, [selection])
    }
  }
}

function require(place: Need, selections: readonly RequiresSelection[], by: ReadonlySet<Deferral | null>): void {
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') require(place, selection.selections, by)
    else if (selection.kind === 'Field' && selection.name !== '__typename') {
      const need = needBelow(place, selection.name)
      for (const each of by) need.by.add(each)
      if (selection.selections) {
        need.isRequiredWhole = true
        require(need, selection.selections, by)
      }
    }
  }
}

/** Returns the path to the objects that stand a number of fields above those of a path. */
function around(path: Path, up: number): Path {
  let end = path.length
  for (let left = up; left > 0; left--) {
    while (end > 0 && !isField(path[end - 1]!)) end--
    end--
  }
  return path.slice(0, Math.max(0, end))
}

const isField = (segment: Path[number]) => typeof segment !== 'string' && 'Field' in segment

/** Returns what a value from a context requires of the object that it stands in. */
function requiredBy({ path: [segment, ...below] }: Pick<ContextValue, 'path'>): RequiresSelection[] {
  if (segment === undefined) return []
  if (!('Key' in segment)) return requiredBy({ path: below })
  return [{ kind: 'Field', name: segment.Key, ...(below.length > 0 && { selections: requiredBy({ path: below }) }) }]
}

const isRequiredLeaf = ({ group, key, nodes }: Piece, needs: Need): boolean =>
  nodes.every(({ selectionSet }) => !selectionSet) && group!.paths.every(path => !needBelow(needAt(needs, path), key).isSelected)

/** Counts what a tree of needs holds, to see whether it has grown. */
function countIn({ by, below }: Need): number {
  let count = by.size
  for (const need of below.values()) count += countIn(need)
  return count
}

function piecesOf({ document, groups, subgraph }: Keyed, supergraph: Known): Piece[] {
  const operation = operationIn(document)
  const pieces: Piece[] = []
  if (groups.length === 0) read(operation.selectionSet, null, null)
  for (const selection of operation.selectionSet.selections) {
    const group = selection.kind === Kind.FIELD ? groups.find(({ alias }) => alias === keyOf(selection)) : undefined
    if (group && selection.kind === Kind.FIELD && selection.selectionSet) read(selection.selectionSet, group, null)
  }
  return pieces

  function read(set: SelectionSetNode, group: EntityBatchAlias | null, type: string | null): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) read(selection.selectionSet, group, selection.typeCondition?.name.value ?? type)
      if (selection.kind !== Kind.FIELD) continue
      const isType = isTypename(selection)
      if (isType && set.selections.length > 1 && saysNothing(type)) continue
      const known = pieces.find(piece => piece.group === group && piece.key === keyOf(selection))
      if (known) known.nodes.push(selection)
      else pieces.push({ group, key: keyOf(selection), nodes: [selection], isType })
    }
  }

  /** Whether the name of the type is known: an object type's, or that of an interface which the subgraph sees as an object. */
  function saysNothing(type: string | null): boolean {
    if (type === null) return false
    return supergraph.isObject(type) || (supergraph.interfaceObjects.get(type)?.graphs.has(graphName(subgraph)) ?? false)
  }
}

/** Name of a subgraph in the enum `join__Graph`, as composition usually makes it. */
const graphName = (subgraph: string) => subgraph.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')

/** Returns a fetch with some of its pieces alone; type names stay wherever something is left. */
function only(fetch: Keyed, pieces: ReadonlySet<Piece>): Keyed {
  const nodes = new Set([...pieces].flatMap(piece => piece.nodes))
  const groups = fetch.groups.filter(group => [...pieces].some(piece => piece.group === group))
  const operation = operationIn(fetch.document)
  const kept = (set: SelectionSetNode): SelectionSetNode | null => {
    const selections = set.selections.flatMap((selection): SelectionNode[] => {
      if (selection.kind !== Kind.INLINE_FRAGMENT) return nodes.has(selection as FieldNode) || isTypename(selection as FieldNode) ? [selection] : []
      const selectionSet = kept(selection.selectionSet)
      return selectionSet ? [{ ...selection, selectionSet }] : []
    })
    const says = selections.some(selection => selection.kind === Kind.INLINE_FRAGMENT || nodes.has(selection as FieldNode))
    return says ? { ...set, selections } : null
  }
  const roots = operation.selectionSet.selections.flatMap((selection): SelectionNode[] => {
    if (fetch.groups.length === 0) return nodes.has(selection as FieldNode) ? [selection] : []
    if (selection.kind !== Kind.FIELD || !groups.some(({ alias }) => alias === keyOf(selection))) return []
    const selectionSet = kept(selection.selectionSet!)
    return selectionSet ? [{ ...selection, selectionSet }] : []
  })
  const document = withUsedVariables({ ...operation, selectionSet: { ...operation.selectionSet, selections: roots } })
  return { ...fetch, document, text: stripIgnoredCharacters(print(document)), groups }
}

function withUsedVariables(operation: OperationDefinitionNode): DocumentNode {
  const used = new Set<string>()
  visit(operation.selectionSet, { Variable: node => void used.add(node.name.value) })
  const variableDefinitions = operation.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)) ?? []
  return { kind: Kind.DOCUMENT, definitions: [{ ...operation, variableDefinitions }] }
}

/** The names that a fetch's rewrites give to its keys at the end. */
function renamedBy({ groups, rewrites }: Keyed): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>()
  const all: FetchRewrite[] = [...rewrites, ...groups.flatMap(({ outputRewrites }) => outputRewrites ?? [])]
  for (const rewrite of all) {
    const last = 'KeyRenamer' in rewrite ? rewrite.KeyRenamer.path.at(-1) : undefined
    if (last && 'Key' in last && 'KeyRenamer' in rewrite) renamed.set(last.Key, rewrite.KeyRenamer.renameKeyTo)
  }
  return renamed
}

const operationIn = ({ definitions }: DocumentNode): OperationDefinitionNode => definitions.find(each => each.kind === Kind.OPERATION_DEFINITION)!

/** Writes the named fragments of a fetch out, each place with nodes of its own, because places are divided by themselves. */
function withoutFragments(fetch: Keyed): Keyed {
  const { definitions } = fetch.document
  if (definitions.length === 1) return fetch
  const fragments = new Map(definitions.flatMap(each => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])))
  const written = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection): SelectionNode => {
      if (selection.kind !== Kind.FRAGMENT_SPREAD)
        return selection.selectionSet ? { ...selection, selectionSet: written(selection.selectionSet) } : { ...selection }
      const { typeCondition, selectionSet } = fragments.get(selection.name.value)!
      return { kind: Kind.INLINE_FRAGMENT, typeCondition, directives: selection.directives ?? [], selectionSet: written(selectionSet) }
    }),
  })
  const operation = operationIn(fetch.document)
  return { ...fetch, document: { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet: written(operation.selectionSet) }] } }
}

const keyOf = (field: FieldNode) => (field.alias ?? field.name).value

const isTypename = (field: FieldNode) => field.kind === Kind.FIELD && field.name.value === '__typename' && !field.alias
