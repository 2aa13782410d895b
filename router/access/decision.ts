import type { DocumentNode, GraphQLFormattedError } from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'

/** The part of an operation that a viewer may read. */
export interface AccessDecision {
  /**
   * Short text that is equal for equal decisions and part of every cache key. Two viewers with the same remaining
   * fields of this document have the same verdict; different remaining fields never share one.
   */
  readonly verdict: string
  /**
   * The document without rejected fields; the very same object when none is rejected; null when nothing of the
   * operation remains. Fields are only ever removed, never renamed or added (`__typename` excepted), because the answer
   * is shaped by the original document and every field missing here becomes null there. A field that lost its whole
   * selection stays, with `__typename` or with an empty selection set, so that the client still sees its null or
   * length.
   */
  readonly document: DocumentNode | null
  /**
   * One error for each rejected place, code `UNAUTHORIZED_FIELD_OR_TYPE`, with a sentence that names the sufficient
   * scopes. The path consists of the client's response keys, without list indexes.
   */
  readonly errors: readonly GraphQLFormattedError[]
  /**
   * The operation must not run at all (a mutation with any rejected field): `data` is null, and the answer has only
   * `errors`.
   */
  readonly refusedWhole: boolean
}

/** Removes from an operation what its viewer may not read, before it is planned. */
export interface AccessFilter {
  /**
   * Decides without variables and without waiting. The engine asks for every operation, so a decision should be kept by
   * (document, operationName, what of the viewer counts) and returned again as the same object.
   * @param document      valid against the API schema, already without `@skip` and `@include` (what they drop is not refused,
   *                      for it was not asked for); the same object for the same text and the same values, so it may key a
   *                      WeakMap. What was dropped may leave a selection set empty. It may hold other operations than the named one; those are of no interest.
   * @param operationName undefined when the document has a single operation
   */
  filter(document: DocumentNode, operationName: string | undefined, viewer: Viewer): AccessDecision
}
