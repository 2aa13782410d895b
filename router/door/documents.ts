import { createHash } from 'node:crypto'
import { type DocumentNode, GraphQLError, type GraphQLSchema, NoSchemaIntrospectionCustomRule, parse, specifiedRules, validate } from 'graphql'
import { createLru } from '../../platform/lru.ts'
import { limits, passedLimit, tooManyTokens } from './limits.ts'

const mostKept = 2000
/** How many mistakes of one document are told. */
const mostErrors = 20

/** Texts become documents once: the same text gives the same object, which compiled plans hang on. */
export interface Documents {
  /** Parses, measures and validates; errors carry the codes that GraphQL over HTTP knows them by. */
  read(text: string): { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] }
  /** A document that was read before, by the SHA-256 of its text in hex. */
  known(hash: string): DocumentNode | undefined
}

/** @param options.introspection whether clients may ask for the schema */
export function createDocuments(schema: GraphQLSchema, options: { readonly introspection: boolean }): Documents {
  const kept = createLru<string, DocumentNode>(mostKept)
  const rules = options.introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule]
  const mistakes = (document: DocumentNode): readonly GraphQLError[] => {
    try {
      return validate(schema, document, rules, { maxErrors: mostErrors })
    } catch (error) {
      // A condition with a variable at the root of a subscription is no error to graphql-js but a throw.
      if (error instanceof GraphQLError) return [error]
      throw error
    }
  }
  return {
    read(text) {
      const hash = createHash('sha256').update(text).digest('hex')
      const known = kept.get(hash)
      if (known) return { document: known }
      let document: DocumentNode
      try {
        document = parse(text, { maxTokens: limits.tokens })
      } catch (error) {
        // Anything but a syntax error is a stack that ran out: thousands of brackets within each other.
        if (!(error instanceof GraphQLError) || error.message.includes('Parsing aborted')) return { errors: [tooManyTokens()] }
        return { errors: [coded(error, 'GRAPHQL_PARSE_FAILED')] }
      }
      const passed = passedLimit(document)
      if (passed) return { errors: [passed] }
      const errors = mistakes(document)
      if (errors.length > 0) return { errors: errors.map(error => coded(error, 'GRAPHQL_VALIDATION_FAILED')) }
      kept.set(hash, document)
      return { document }
    },
    known: hash => kept.get(hash),
  }
}

const coded = ({ message, nodes, source, positions, path }: GraphQLError, code: string) =>
  new GraphQLError(message, { nodes: nodes ?? null, source, positions, path, extensions: { code } })
