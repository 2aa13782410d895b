import { type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode } from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type AccessTable, type FieldRule, meets, type Requirement } from './rules.ts'

/** The operation of a document that a decision is about. */
export interface Operation {
  readonly id: number
  readonly document: DocumentNode
  readonly definition: OperationDefinitionNode
}

/** Reason for a rejection: the `Type` or `Type.field`, and its requirements. */
export interface Barrier {
  readonly coordinate: string
  readonly rule: readonly Requirement[]
  /** Further requirements of a union's members, when the viewer may read none of them: meeting one suffices. */
  readonly members: readonly (readonly Requirement[])[]
}

/** Result of a walk through one operation for one viewer. */
export interface Findings {
  /** The remaining parts of selection sets that lose something; null when nothing remains. */
  readonly changed: ReadonlyMap<SelectionSetNode, SelectionSetNode | null>
  readonly refusedFields: ReadonlyMap<FieldNode, Barrier>
  /** Barriers by the selection sets of fragments whose type is rejected. */
  readonly refusedSets: ReadonlyMap<SelectionSetNode, Barrier>
  readonly fragments: ReadonlyMap<string, SelectionSetNode>
  /** Number of selections visited. */
  readonly selections: number
}

/**
 * Walks through one operation for one viewer, each fragment once.
 * @param missing collects the ids of the unmet requirements: viewers with the same ones keep the same fields
 */
export function findingsOf(table: AccessTable, { document, definition }: Operation, viewer: Viewer, missing: Set<number>): Findings {
  const fragments = new Map<string, SelectionSetNode>()
  const conditions = new Map<string, string>()
  for (const each of document.definitions) {
    if (each.kind !== Kind.FRAGMENT_DEFINITION) continue
    fragments.set(each.name.value, each.selectionSet)
    conditions.set(each.name.value, each.typeCondition.name.value)
  }
  const refusedFields = new Map<FieldNode, Barrier>()
  const refusedSets = new Map<SelectionSetNode, Barrier>()
  const changed = new Map<SelectionSetNode, SelectionSetNode | null>()
  const walked = new Set<string>()
  let selections = 0

  const isUnmet = (requirement: Requirement): boolean => !meets(requirement, viewer)
  const bars = (rule: readonly Requirement[]): boolean => {
    const unmet = rule.filter(isUnmet)
    for (const each of unmet) missing.add(each.id)
    return unmet.length > 0
  }
  /** Returns the barrier between the viewer and a field; undefined when there is none. */
  const barrierOf = (rule: FieldRule, coordinate: string): Barrier | undefined => {
    const members = rule.members?.length && rule.members.every(member => member.some(isUnmet)) ? rule.members : []
    if (bars(rule.all)) return { coordinate, rule: rule.all, members }
    // Requires the rules of every member, although one would do: other viewers may pass by any of them.
    for (const member of members) bars(member)
    return members.length > 0 ? { coordinate, rule: rule.all, members } : undefined
  }

  const field = (node: FieldNode, type: string): FieldNode | null => {
    const name = node.name.value
    const rule = table.fields.get(type)?.get(name)
    if (!rule) {
      if (name.startsWith('__')) return node
      throw new Error(`the access table knows no field ${type}.${name}: it was read from another supergraph`)
    }
    const barrier = barrierOf(rule, `${type}.${name}`)
    if (barrier) {
      refusedFields.set(node, barrier)
      return null
    }
    if (!node.selectionSet) return node
    const inner = walk(node.selectionSet, rule.type)
    if (inner === node.selectionSet) return node
    // Whether the object exists is still disclosed.
    return { ...node, selectionSet: inner ?? { kind: Kind.SELECTION_SET, selections: [typename] } }
  }

  /** Whether a selection is about types and the schema only, which everyone may read. */
  const asksNothing = (set: SelectionSetNode, seen = new Set<SelectionSetNode>()): boolean =>
    set.selections.every(selection => {
      if (selection.kind === Kind.FIELD) return selection.name.value.startsWith('__')
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments.get(selection.name.value)!
      if (seen.has(inner)) return true
      seen.add(inner)
      return asksNothing(inner, seen)
    })

  const under = (set: SelectionSetNode, type: string): SelectionSetNode | null => {
    const rule = table.types.get(type) ?? []
    if (!rule.some(isUnmet) || asksNothing(set) || !bars(rule)) return walk(set, type)
    refusedSets.set(set, { coordinate: type, rule, members: [] })
    changed.set(set, null)
    return null
  }

  const spread = (name: string): SelectionSetNode | null => {
    const set = fragments.get(name)!
    if (!walked.has(name)) {
      walked.add(name)
      return under(set, conditions.get(name)!)
    }
    const known = changed.get(set)
    return known === undefined ? set : known
  }

  const remains = (selection: SelectionNode, type: string): SelectionNode | null => {
    if (selection.kind === Kind.FIELD) return field(selection, type)
    if (selection.kind === Kind.FRAGMENT_SPREAD) return spread(selection.name.value) && selection
    const { selectionSet: set, typeCondition } = selection
    const inner = typeCondition ? under(set, typeCondition.name.value) : walk(set, type)
    if (inner === null || inner === set) return inner && selection
    return { ...selection, selectionSet: inner }
  }

  const walk = (set: SelectionSetNode, type: string): SelectionSetNode | null => {
    const kept: SelectionNode[] = []
    let isChanged = false
    let lostFragment = false
    selections += set.selections.length
    for (const selection of set.selections) {
      const remaining = remains(selection, type)
      if (remaining) kept.push(remaining)
      else if (selection.kind !== Kind.FIELD) lostFragment = true
      if (remaining !== selection || (selection.kind === Kind.FRAGMENT_SPREAD && changed.has(fragments.get(selection.name.value)!))) isChanged = true
    }
    if (!isChanged) return set
    // Keeps `__typename`: without the fragment the type would not be requested, and the type alone shows which fields
    // are answered with null.
    if (lostFragment && kept.length > 0 && table.abstract.has(type) && !kept.some(asksType)) kept.push(typename)
    const remaining = kept.length > 0 ? { ...set, selections: kept } : null
    changed.set(set, remaining)
    return remaining
  }

  under(definition.selectionSet, table.roots[definition.operation])
  return { changed, refusedFields, refusedSets, fragments, selections }
}

const asksType = (selection: SelectionNode): boolean => selection.kind === Kind.FIELD && selection.name.value === '__typename' && !selection.alias

const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }
