import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { DomainError, type ErrorCode } from '../../platform/errors.ts'

/** Path of a value: keys and list indexes from the root. */
export type Place = readonly (string | number)[]

/** Creates an error for clients: message, code and the client's path, without the place where it was thrown. */
export const errorFor = (code: ErrorCode, message: string, path?: Place, details: Record<string, unknown> = {}): GraphQLError =>
  new GraphQLError(message, { ...(path && { path }), extensions: { ...details, code } })

/** Converts an error that another component wrote, such as the access filter, to an error of a result. */
export const errorFrom = (error: GraphQLFormattedError): GraphQLError =>
  new GraphQLError(error.message, { ...(error.path && { path: error.path }), extensions: { ...error.extensions } })

/**
 * The operation exceeds a limit on size or work, by itself or together with its caller's other operations. No subgraph
 * is at fault, and the whole operation ends.
 */
export class TooMuch extends DomainError {}

/** The result of an operation that ended so. */
export const tooMuchResult = ({ code, message, extensions }: TooMuch): { readonly data: null; readonly errors: readonly GraphQLError[] } => ({
  data: null,
  errors: [errorFor(code, message, undefined, extensions)],
})
