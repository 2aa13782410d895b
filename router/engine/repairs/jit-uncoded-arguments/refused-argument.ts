import { GraphQLError } from 'graphql'

/** An argument that was refused while running says so nowhere but in its words: no resolver threw it. */
export const asRefusedArgument = (error: GraphQLError): GraphQLError =>
  error.originalError === undefined && error.message.startsWith('Argument "')
    ? new GraphQLError(error.message, { path: error.path, extensions: { code: 'BAD_USER_INPUT' } })
    : error
