import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { type ErrorCode, Refusal } from '../../platform/errors.ts'

/** Where something stands: keys and list indexes from the root. */
export type Place = readonly (string | number)[]

/** An error as the engine tells it: message, code and the client's path, nothing of where it was thrown. */
export const errorFor = (code: ErrorCode, message: string, path?: Place, details: Record<string, unknown> = {}): GraphQLError =>
  new GraphQLError(message, { ...(path && { path }), extensions: { ...details, code } })

/** An error that was written by others, e.g. by the access filter, in the form of a result's. */
export const errorFrom = (error: GraphQLFormattedError): GraphQLError =>
  new GraphQLError(error.message, { ...(error.path && { path: error.path }), extensions: { ...error.extensions } })

/**
 * The operation asks for more than can be worked out or put together, by itself or beside what its caller asks already: no subgraph's
 * fault, and the end of all of it.
 */
export class TooMuch extends Refusal {}

/** The result of an operation that ended so. */
export const tooMuchResult = ({ code, message, extensions }: TooMuch): { readonly data: null; readonly errors: readonly GraphQLError[] } => ({
  data: null,
  errors: [errorFor(code, message, undefined, extensions)],
})
