import { type GraphQLFormattedError, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Barrier, Findings } from './findings.ts'
import { refusalOf, wordsFor } from './refusal.ts'

/** Maximum number of rejected places that one answer names. */
const mostErrors = 100

/** A selection set, and the barrier to all of it. */
interface Place {
  readonly set: SelectionSetNode
  readonly barrier: Barrier | undefined
}

/**
 * Creates one error for each rejected place of an operation, by the client's response keys: a field that several
 * selections contain is one place. Only branches with rejections are visited, so that multiplying fragments cost no
 * more than the reported errors.
 */
export function refusalsOf(findings: Findings, operation: OperationDefinitionNode, viewer: Viewer): readonly GraphQLFormattedError[] {
  const { changed, refusedFields, refusedSets, fragments } = findings
  const errors: GraphQLFormattedError[] = []
  const words = new Map<string, ReturnType<typeof wordsFor>>()

  const tell = (path: readonly string[], barrier: Barrier): void => {
    const known = words.get(barrier.coordinate) ?? wordsFor(barrier, viewer, operation.operation)
    words.set(barrier.coordinate, known)
    errors.push(refusalOf(path, known))
  }

  /** Reports what is rejected at one place of the answer, then below it. */
  const visit = (places: readonly Place[], path: readonly string[]): void => {
    const reported = new Set<string>()
    const below = new Map<string, Place[]>()
    const opened = { open: new Set<SelectionSetNode>(), refused: new Set<SelectionSetNode>() }
    const open = ({ set, barrier }: Place): void => {
      const before = barrier ? opened.refused : opened.open
      if (before.has(set) || (!barrier && !changed.has(set))) return
      before.add(set)
      for (const selection of set.selections) {
        if (errors.length >= mostErrors) return
        if (selection.kind !== Kind.FIELD) {
          const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments.get(selection.name.value)!
          open({ set: inner, barrier: barrier ?? refusedSets.get(inner) })
          continue
        }
        // Introspection is open to all callers.
        if (selection.name.value.startsWith('__')) continue
        const key = (selection.alias ?? selection.name).value
        const refusing = barrier ?? refusedFields.get(selection)
        if (!refusing) {
          const inner = selection.selectionSet
          if (inner && changed.has(inner)) below.set(key, [...(below.get(key) ?? []), { set: inner, barrier: undefined }])
        } else if (!reported.has(key)) {
          reported.add(key)
          tell([...path, key], refusing)
        }
      }
    }
    for (const place of places) open(place)
    for (const [key, inner] of below) if (errors.length < mostErrors) visit(inner, [...path, key])
  }

  visit([{ set: operation.selectionSet, barrier: refusedSets.get(operation.selectionSet) }], [])
  return errors
}
