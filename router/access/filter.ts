import { type DefinitionNode, type DocumentNode, Kind, type SelectionSetNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { AccessDecision, AccessFilter } from './decision.ts'
import { type Findings, findingsOf, type Operation } from './findings.ts'
import { refusalsOf } from './refused-places.ts'
import { type AccessTable, meets } from './rules.ts'

/** Maximum number of cached decisions; viewers with the same rights share one. */
const mostDecisions = 5000
/** Maximum bytes of all cached decisions, with the documents that they keep alive. */
const mostBytes = 64 * 1024 * 1024
/** Bytes of memory for a selection and for a rejection, as measured with Node 26. */
const [bytesPerSelection, bytesPerRefusal] = [250, 250]

/** A decision, and its approximate bytes. */
interface Kept {
  readonly decision: AccessDecision
  readonly bytes: number
}

/**
 * Creates the filter that removes from an operation what its viewer may not read, by the rules of one supergraph. Rules
 * apply to answers only: everyone may send a guarded enum or scalar value as an argument, as with Apollo's router.
 */
export function createAccessFilter(table: AccessTable): AccessFilter {
  const operations = new WeakMap<DocumentNode, Map<string | undefined, Operation>>()
  const decisions = new LRUCache<string, Kept>({ max: mostDecisions, maxSize: mostBytes, sizeCalculation: ({ bytes }) => bytes })
  const rights = new WeakMap<Viewer, string>()
  let count = 0

  /**
   * Returns a viewer's rights with one character a requirement: viewers with equal texts are equal for every document.
   */
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

/** Decision for an unknown operation: nothing runs. */
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

/** Returns the document with the operation's new selections, and the fragments that they still use. */
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
      const inner = changed.has(written) ? changed.get(written) : written
      // A fragment that loses all its fields loses its spreads too.
      if (!inner) throw new Error(`the fragment ${name} has nothing left and is still used`)
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
