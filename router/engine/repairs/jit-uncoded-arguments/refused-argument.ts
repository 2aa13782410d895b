import { GraphQLError } from 'graphql'

/**
 * Adds the code of a rejected argument to an error: graphql-jit reports such an argument only by the error's message,
 * because no resolver threw it.
 */
export const asRefusedArgument = (error: GraphQLError): GraphQLError =>
  error.originalError === undefined && error.message.startsWith('Argument "')
    ? new GraphQLError(error.message, { path: error.path, extensions: { code: 'BAD_USER_INPUT' } })
    : error
