import { type DefinitionNode, type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode } from 'graphql'
import { createLru } from '../../platform/lru.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { AccessDecision, AccessFilter } from '../engine/engine.ts'
import { refusalsOf } from './refused-places.ts'
import { type AccessTable, type FieldRule, meets, type Requirement } from './rules.ts'

/** How many decisions are kept, whoever made them necessary: viewers with the same rights share one. */
const mostDecisions = 5000
/** Bytes that they may take together, with the documents that they keep alive. */
const mostBytes = 64 * 1024 * 1024
/** What a selection of a document and a refusal take, as measured with Node 26. */
const [bytesPerSelection, bytesPerRefusal] = [250, 250]

/** A decision, and roughly the bytes that it takes. */
interface Kept {
  readonly decision: AccessDecision
  readonly bytes: number
}

/** One operation of a document that a decision is about. */
export interface Operation {
  readonly id: number
  readonly document: DocumentNode
  readonly definition: OperationDefinitionNode
}

/** Why something is refused: what it is, as `Type` or `Type.field`, and what is asked there. */
export interface Barrier {
  readonly coordinate: string
  readonly rule: readonly Requirement[]
  /** What the members of a union ask for besides, when none of them is open: one would do. */
  readonly members: readonly (readonly Requirement[])[]
}

/** What a walk through one operation found out for one viewer. */
export interface Findings {
  /** What remains of the selection sets that lose something; null when nothing does. */
  readonly changed: ReadonlyMap<SelectionSetNode, SelectionSetNode | null>
  readonly refusedFields: ReadonlyMap<FieldNode, Barrier>
  /** By the selection set of a fragment whose type is refused. */
  readonly refusedSets: ReadonlyMap<SelectionSetNode, Barrier>
  readonly fragments: ReadonlyMap<string, SelectionSetNode>
  /** How many selections it met. */
  readonly selections: number
}

/**
 * Makes the filter that takes out of an operation what its viewer may not have, by the rules of one supergraph. Rules are about what is
 * answered: the value of a guarded enum or scalar may be given as an argument by everybody, as with Apollo's router.
 */
export function createAccessFilter(table: AccessTable): AccessFilter {
  const operations = new WeakMap<DocumentNode, Map<string | undefined, Operation>>()
  const decisions = createLru<string, Kept>(mostDecisions, { most: mostBytes, weigh: ({ bytes }) => bytes })
  const rights = new WeakMap<Viewer, string>()
  let count = 0

  /** One character a requirement: viewers with equal texts are equal before every document. */
  const rightsOf = (viewer: Viewer): string => {
    let known = rights.get(viewer)
    if (known === undefined) {
      known = viewer.kind === 'anonymous' ? 'a' : 'k'
      for (const each of table.requirements) known += meets(each, viewer) ? '1' : '0'
      rights.set(viewer, known)
    }
    return known
  }

  const operationOf = (document: DocumentNode, name: string | undefined): Operation | undefined => {
    const known = operations.get(document)?.get(name)
    if (known) return known
    const candidates = document.definitions.filter(each => each.kind === Kind.OPERATION_DEFINITION)
    const definition = name === undefined ? candidates[0] : candidates.find(each => each.name?.value === name)
    if (!definition || (name === undefined && candidates.length > 1)) return undefined
    const found = { id: ++count, document, definition }
    const ofDocument = operations.get(document) ?? new Map<string | undefined, Operation>()
    operations.set(document, ofDocument.set(name, found))
    return found
  }

  return {
    filter(document, operationName, viewer) {
      const operation = operationOf(document, operationName)
      if (!operation) return unknownOperation
      const key = `${operation.id} ${rightsOf(viewer)}`
      let kept = decisions.get(key)
      if (!kept) {
        kept = decide(table, operation, viewer)
        decisions.set(key, kept)
      }
      return kept.decision
    },
  }
}

/** Nobody knows what would run: so nothing does. */
const unknownOperation: AccessDecision = {
  verdict: 'unknown',
  document: null,
  errors: [{ message: 'The document does not say which operation to run: name one that it has in operationName.', extensions: { code: 'BAD_USER_INPUT' } }],
  refusedWhole: true,
}

function decide(table: AccessTable, operation: Operation, viewer: Viewer): Kept {
  const { document, definition } = operation
  const missing = new Set<number>()
  const findings = findingsOf(table, operation, viewer, missing)
  const remaining = findings.changed.get(definition.selectionSet)
  const kept = (decision: AccessDecision): Kept => ({
    decision,
    bytes: 1000 + findings.selections * bytesPerSelection + decision.errors.length * bytesPerRefusal,
  })
  if (remaining === undefined) return kept({ verdict: 'all', document, errors: [], refusedWhole: false })
  const verdict = `not ${[...missing].sort((a, b) => a - b).join('.')}`
  const errors = refusalsOf(findings, definition, viewer)
  const refusedWhole = errors.length > 0 && definition.operation !== 'query'
  if (refusedWhole || remaining === null) return kept({ verdict, document: null, errors, refusedWhole })
  return kept({ verdict, document: rewrite(operation, remaining, findings), errors, refusedWhole })
}

/** The document with the operation's new selections, and the fragments that they still use. */
function rewrite({ document, definition }: Operation, selectionSet: SelectionSetNode, { changed, fragments }: Findings): DocumentNode {
  const used = new Map<string, SelectionSetNode>()
  const visit = (set: SelectionSetNode) => {
    for (const selection of set.selections) {
      if (selection.kind !== Kind.FRAGMENT_SPREAD) {
        if (selection.selectionSet) visit(selection.selectionSet)
        continue
      }
      const name = selection.name.value
      if (used.has(name)) continue
      const written = fragments.get(name)!
      const inner = changed.get(written) ?? written
      used.set(name, inner)
      visit(inner)
    }
  }
  visit(selectionSet)
  const definitions = document.definitions.flatMap((each): readonly DefinitionNode[] => {
    if (each === definition) return [{ ...each, selectionSet }]
    const inner = each.kind === Kind.FRAGMENT_DEFINITION ? used.get(each.name.value) : undefined
    if (each.kind !== Kind.FRAGMENT_DEFINITION || !inner) return []
    return [inner === each.selectionSet ? each : { ...each, selectionSet: inner }]
  })
  return { ...document, definitions }
}

/**
 * Walks through one operation for one viewer, each fragment once.
 * @param missing collects the ids of the requirements that bar the viewer: whoever is barred by the same ones has the same remains
 */
function findingsOf(table: AccessTable, { document, definition }: Operation, viewer: Viewer, missing: Set<number>): Findings {
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
  /** What keeps the viewer from a field; undefined when nothing does. */
  const barrierOf = (rule: FieldRule, coordinate: string): Barrier | undefined => {
    const members = rule.members?.length && rule.members.every(member => member.some(isUnmet)) ? rule.members : []
    if (bars(rule.all)) return { coordinate, rule: rule.all, members }
    // Every member's, although one would do: somebody with other rights may come in by any of them.
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
    // Whether the object itself is there is still told.
    return { ...node, selectionSet: inner ?? { kind: Kind.SELECTION_SET, selections: [typename] } }
  }

  /** Whether a selection is about types and the schema alone, which are told to everybody. */
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
    // Without the fragment nobody would ask for the type, and by the type alone is known what of it is answered with null.
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
