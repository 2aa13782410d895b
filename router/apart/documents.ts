import { GraphQLError, type GraphQLSchema, getOperationAST, parse, validate } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { Fetch } from '../engine/engine.ts'
import { argumentMistake } from '../engine/transport/argument-mistakes.ts'

/** Maximum number of cached documents: the router sends the same text for the same plan. */
const maxDocuments = 2000

/** Returns a GraphQL error with a code, as a subgraph process answers it. */
export const coded = (message: string, code = 'GRAPHQL_VALIDATION_FAILED', details: Readonly<Record<string, unknown>> = {}): GraphQLError =>
  new GraphQLError(message, { extensions: { ...details, code } })

/** Parses and validates the documents that a router sends to one subgraph. Valid ones are remembered by their text. */
export function createDocuments(slug: Slug, schema: GraphQLSchema): (text: string) => Fetch | readonly GraphQLError[] {
  const known = new LRUCache<string, Fetch>({ max: maxDocuments })
  return text => {
    const present = known.get(text)
    if (present) return present
    const read = parsed(slug, schema, text)
    if ('text' in read) known.set(text, read)
    return read
  }
}

function parsed(slug: Slug, schema: GraphQLSchema, text: string): Fetch | readonly GraphQLError[] {
  try {
    const document = parse(text)
    const errors = validate(schema, document)
    if (errors.length > 0) {
      // The router cannot check values of scalars that only the subgraph knows, so a client may have sent a wrong one.
      const mistake = argumentMistake(schema, document)
      return mistake ? [coded(mistake.message, 'BAD_USER_INPUT', { field: mistake.field })] : errors.map(error => coded(error.message))
    }
    const operation = getOperationAST(document)
    return operation ? { subgraph: slug, document, text, kind: operation.operation } : [coded('One operation is to be sent at a time.')]
  } catch (error) {
    return [coded((error as Error).message)]
  }
}
