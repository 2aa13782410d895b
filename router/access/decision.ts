import type { DocumentNode, GraphQLFormattedError } from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'

/** What a viewer may have of one operation. */
export interface AccessDecision {
  /**
   * Short and equal for equal decisions: it goes into every cache key. Two viewers for whom the same fields of this document
   * remain have the same verdict; differing remains never share one.
   */
  readonly verdict: string
  /**
   * The document without what this viewer may not have; the very same object when nothing is refused; null when nothing of
   * the operation remains. Fields are only ever removed, never renamed or added (`__typename` excepted), because the answer
   * is shaped by the original document and every field missing here becomes null there. A field that lost its whole
   * selection stays, with `__typename` or with an empty selection set, so that its own null or length is still told.
   */
  readonly document: DocumentNode | null
  /**
   * One for each refused place, code `UNAUTHORIZED_FIELD_OR_TYPE`, with a sentence that says which scopes would do. The path
   * consists of the client's response keys, without list indexes.
   */
  readonly errors: readonly GraphQLFormattedError[]
  /** The operation must not run at all (a mutation with any refused field): `data` is null and only `errors` are told. */
  readonly refusedWhole: boolean
}

/** Takes out of an operation what its viewer may not have, before anything is planned. */
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
