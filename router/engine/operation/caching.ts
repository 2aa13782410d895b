import { Kind, type SelectionSetNode } from 'graphql'
import type { AccessTable } from '../../access/rules.ts'
import { type KeepingGraph, keepingOfField, type OperationCaching } from '../graph/keeping.ts'
import type { Operation } from './operation.ts'

/** Settings of keeping answers. */
interface Settings {
  /** Seconds. */
  readonly defaultMaxAge: number
  readonly maxAge: number
  /** Whether a response cache is in use. */
  readonly isOn: boolean
}

/** Settings where there are none. */
export const usualSettings: Settings = { defaultMaxAge: 0, maxAge: 300, isOn: false }

/** The parts of a supergraph that answers' ages depend on. */
interface Guarded extends KeepingGraph {
  readonly access: AccessTable
}

/**
 * Returns how long answers to an operation may be kept; null where they never may, and no cache has to be asked.
 * @param readsHeaders whether subgraphs say by HTTP headers how long their answers may be kept: they decide on fields
 * about which the schema says nothing
 */
export function keepingOf(
  { definition, fragments }: Operation,
  graph: Guarded,
  { defaultMaxAge, maxAge: most, isOn }: Settings = usualSettings,
  readsHeaders: boolean,
): OperationCaching | null {
  if (definition.operation !== 'query') return null
  const root = graph.access.roots.query
  const isSilent = graph.hints.fields.size === 0 && graph.hints.types.size === 0
  const fields = [...rootFieldsOf(definition.selectionSet, fragments)]
  // Introspection, and an answer without any data of a subgraph, may change with the graph.
  let maxAge = fields.length === 0 || fields.some(({ name }) => name.startsWith('__')) ? 0 : most
  let isPrivate = false
  let isSaid = true
  for (const { name, set } of fields) {
    if (maxAge <= 0 && !isOn) return null
    const coordinate = `${root}.${name}`
    const selected = set ? { set, type: graph.fieldTypes.get(coordinate) ?? '', fragments } : null
    const keeping = isSilent ? { maxAge: defaultMaxAge, isPrivate: false, isSaid: false } : keepingOfField(graph, coordinate, selected, true, defaultMaxAge)
    isSaid &&= keeping.isSaid
    // What the schema says nothing about is decided when its subgraph has answered.
    if (!keeping.isSaid && readsHeaders) continue
    maxAge = Math.min(maxAge, keeping.maxAge)
    isPrivate ||= keeping.isPrivate
  }
  if (maxAge <= 0 && !isOn) return null
  return { maxAge, isPrivate, isSaid, isGuarded: isGuarded(graph, { set: definition.selectionSet, type: root }, fragments) }
}

/** Returns the root fields of an operation, without `__typename`. */
function* rootFieldsOf(
  { selections }: SelectionSetNode,
  fragments: Operation['fragments'],
): Generator<{ readonly name: string; readonly set: SelectionSetNode | undefined }> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      if (selection.name.value !== '__typename') yield { name: selection.name.value, set: selection.selectionSet }
      continue
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    if (fragment) yield* rootFieldsOf(fragment.selectionSet, fragments)
  }
}

/** Whether a selected field, or its type, has an access rule. */
function isGuarded(graph: Guarded, { set, type }: { readonly set: SelectionSetNode; readonly type: string }, fragments: Operation['fragments']): boolean {
  const { access, fieldTypes } = graph
  return set.selections.some(selection => {
    if (selection.kind === Kind.FIELD) {
      const name = selection.name.value
      const rule = access.fields.get(type)?.get(name)
      if (rule && (rule.all.length > 0 || rule.members?.some(member => member.length > 0))) return true
      const below = fieldTypes.get(`${type}.${name}`)
      return selection.selectionSet !== undefined && below !== undefined && isGuarded(graph, { set: selection.selectionSet, type: below }, fragments)
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    if (!fragment) return false
    const condition = fragment.typeCondition?.name.value ?? type
    if (condition !== type && (access.types.get(condition)?.length ?? 0) > 0) return true
    return isGuarded(graph, { set: fragment.selectionSet, type: condition }, fragments)
  })
}
