import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLFormattedError,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { createLru, type Lru } from '../../platform/lru.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { AccessDecision, AccessFilter } from '../engine/engine.ts'
import { refusalOf } from './refusal.ts'
import { type AccessTable, type FieldRule, meets, type Requirement } from './rules.ts'

/** How many decisions one document keeps: viewers with the same rights share one. */
const mostDecisions = 50
/** How many refused places one answer names. */
const mostErrors = 100

/** A place that is refused: response keys from where the walk stands, and what was not met. */
interface Refused {
  readonly path: readonly string[]
  readonly coordinate: string
  readonly rule: readonly Requirement[]
}

/** What remains of a selection set; null when nothing does. */
interface Remainder {
  readonly set: SelectionSetNode | null
  readonly refused: readonly Refused[]
}

/** Makes the filter that takes out of an operation what its viewer may not have, by the rules of one supergraph. */
export function createAccessFilter(table: AccessTable): AccessFilter {
  const decisions = new WeakMap<DocumentNode, Lru<string, AccessDecision>>()
  const rights = new WeakMap<Viewer, string>()

  /** One character a requirement: viewers with equal texts are equal before every document. */
  const rightsOf = (viewer: Viewer): string => {
    let known = rights.get(viewer)
    if (known === undefined) {
      known = (viewer.kind === 'anonymous' ? 'a' : 'k') + table.requirements.map(each => (meets(each, viewer) ? '1' : '0')).join('')
      rights.set(viewer, known)
    }
    return known
  }

  return {
    filter(document, operationName, viewer) {
      const key = `${rightsOf(viewer)}/${operationName ?? ''}`
      let kept = decisions.get(document)
      if (!kept) {
        kept = createLru(mostDecisions)
        decisions.set(document, kept)
      }
      let decision = kept.get(key)
      if (!decision) {
        decision = decide(table, document, operationName, viewer)
        kept.set(key, decision)
      }
      return decision
    },
  }
}

function decide(table: AccessTable, document: DocumentNode, operationName: string | undefined, viewer: Viewer): AccessDecision {
  const operations = document.definitions.filter(each => each.kind === Kind.OPERATION_DEFINITION)
  const operation = operationName === undefined ? operations[0] : operations.find(each => each.name?.value === operationName)
  // Which operation is meant is for the engine to refuse.
  if (!operation) return { verdict: 'all', document, errors: [], refusedWhole: false }
  const missing = new Set<number>()
  const walk = createWalk(table, document, viewer, missing)
  const { set, refused } = walk(operation.selectionSet, table.roots[operation.operation])
  if (set === operation.selectionSet) return { verdict: 'all', document, errors: [], refusedWhole: false }
  const verdict = `not ${[...missing].sort((a, b) => a - b).join('.')}`
  const errors = refused.slice(0, mostErrors).map((each): GraphQLFormattedError => refusalOf(each, viewer, operation.operation))
  if (refused.length > 0 && operation.operation !== 'query') return { verdict, document: null, errors, refusedWhole: true }
  if (set === null) return { verdict, document: null, errors, refusedWhole: false }
  return { verdict, document: rewrite(document, operation, set, walk.fragments), errors, refusedWhole: false }
}

/** The document with the operation's new selections, and the fragments that they still use. */
function rewrite(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  selectionSet: SelectionSetNode,
  fragments: ReadonlyMap<string, Remainder>,
): DocumentNode {
  const used = new Set<string>()
  const visit = (set: SelectionSetNode) => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const name = selection.name.value
        if (used.has(name)) continue
        used.add(name)
        const inner = fragments.get(name)?.set
        if (inner) visit(inner)
      } else if (selection.selectionSet) visit(selection.selectionSet)
    }
  }
  visit(selectionSet)
  const definitions = document.definitions.flatMap((each): readonly DefinitionNode[] => {
    if (each === operation) return [{ ...operation, selectionSet }]
    if (each.kind !== Kind.FRAGMENT_DEFINITION || !used.has(each.name.value)) return []
    const inner = fragments.get(each.name.value)!.set!
    return [inner === each.selectionSet ? each : { ...each, selectionSet: inner }]
  })
  return { ...document, definitions }
}

interface Walk {
  (set: SelectionSetNode, type: string): Remainder
  /** What remains of each fragment that was met. */
  readonly fragments: ReadonlyMap<string, Remainder>
}

/** A walk through one document for one viewer; `missing` collects the ids of the requirements that are not met. */
function createWalk(table: AccessTable, document: DocumentNode, viewer: Viewer, missing: Set<number>): Walk {
  const definitions = new Map<string, FragmentDefinitionNode>()
  for (const each of document.definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) definitions.set(each.name.value, each)
  const fragments = new Map<string, Remainder>()

  const unmet = (rule: readonly Requirement[]): readonly Requirement[] => {
    const list = rule.filter(each => !meets(each, viewer))
    for (const each of list) missing.add(each.id)
    return list
  }
  /** What keeps the viewer from a field; empty when nothing does. */
  const barring = (rule: FieldRule): readonly Requirement[] => {
    const own = unmet(rule.all)
    if (own.length > 0 || rule.members === null || rule.members.length === 0) return own
    const members = rule.members.map(unmet)
    return members.some(list => list.length === 0) ? [] : members[0]!
  }

  const field = (node: FieldNode, type: string): { node: FieldNode | null; refused: readonly Refused[] } => {
    const rule = table.fields.get(type)?.get(node.name.value)
    if (!rule) {
      if (node.name.value.startsWith('__')) return { node, refused: [] }
      throw new Error(`the access table knows no field ${type}.${node.name.value}: it was read from another supergraph`)
    }
    const key = node.alias?.value ?? node.name.value
    if (barring(rule).length > 0) return { node: null, refused: [{ path: [key], coordinate: `${type}.${node.name.value}`, rule: wholeRule(rule) }] }
    if (!node.selectionSet) return { node, refused: [] }
    const inner = walk(node.selectionSet, rule.type)
    const refused = inner.refused.map(each => ({ ...each, path: [key, ...each.path] }))
    if (inner.set === node.selectionSet) return { node, refused }
    return { node: { ...node, selectionSet: inner.set ?? { kind: Kind.SELECTION_SET, selections: [typename] } }, refused }
  }

  /** A fragment on a refused type: each field that it asks for is a refused place. */
  const under = (type: string, set: SelectionSetNode): Remainder => {
    const rule = table.types.get(type) ?? []
    if (unmet(rule).length === 0) return walk(set, type)
    const refused = topKeys(set, definitions).map(key => ({ path: [key], coordinate: type, rule }))
    return { set: null, refused }
  }

  const spread = (name: string): Remainder => {
    let known = fragments.get(name)
    if (!known) {
      const definition = definitions.get(name)!
      known = under(definition.typeCondition.name.value, definition.selectionSet)
      fragments.set(name, known)
    }
    return known
  }

  const walk = (set: SelectionSetNode, type: string): Remainder => {
    const kept: SelectionNode[] = []
    const refused: Refused[] = []
    let changed = false
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const result = field(selection, type)
        if (result.node) kept.push(result.node)
        if (result.node !== selection) changed = true
        add(refused, result.refused)
        continue
      }
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? spread(selection.name.value)
          : selection.typeCondition
            ? under(selection.typeCondition.name.value, selection.selectionSet)
            : walk(selection.selectionSet, type)
      add(refused, inner.refused)
      if (inner.set === null) changed = true
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        kept.push(selection)
        if (inner.set !== definitions.get(selection.name.value)!.selectionSet) changed = true
      } else if (inner.set === selection.selectionSet) kept.push(selection)
      else {
        kept.push({ ...selection, selectionSet: inner.set })
        changed = true
      }
    }
    if (!changed) return { set, refused }
    return { set: kept.length > 0 ? { ...set, selections: kept } : null, refused }
  }
  return Object.assign((set: SelectionSetNode, type: string) => under(type, set), { fragments })
}

/** Adds places that are not named yet, up to the bound: one field asked for by two fragments is refused once. */
function add(list: Refused[], more: readonly Refused[]): void {
  for (const each of more) {
    if (list.length >= mostErrors) return
    const text = each.path.join('.')
    if (!list.some(known => known.path.join('.') === text)) list.push(each)
  }
}

/** The response keys that a selection set asks for on its first level, fragments opened. */
function topKeys(set: SelectionSetNode, definitions: ReadonlyMap<string, FragmentDefinitionNode>, seen = new Set<string>()): readonly string[] {
  return set.selections.flatMap(selection => {
    if (selection.kind === Kind.FIELD) return selection.name.value === '__typename' ? [] : [selection.alias?.value ?? selection.name.value]
    if (selection.kind === Kind.INLINE_FRAGMENT) return topKeys(selection.selectionSet, definitions, seen)
    const name = selection.name.value
    if (seen.has(name)) return []
    seen.add(name)
    return topKeys(definitions.get(name)!.selectionSet, definitions, seen)
  })
}

/** Everything that would have to be met, for the sentence; of a union the first member's. */
const wholeRule = (rule: FieldRule): readonly Requirement[] => [...new Set([...rule.all, ...(rule.members?.[0] ?? [])])]

const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }
