import { createHash } from 'node:crypto'
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Engine } from '../../engine/engine.ts'
import { limits, passedLimit, tooManyCharacters, tooManyTokens } from '../limits.ts'
import { type DeferLimits, deferRules, usesIncremental, usualDeferLimits } from './deferring.ts'

/** Maximum number of cached documents, and approximate maximum bytes of all of them. */
const mostKept = 2000
const mostKeptBytes = 64 * 1024 * 1024
/** Bytes of memory for each token of a parsed document, as measured with Node 26. */
const tokenBytes = 140
/** Maximum number of invalid texts cached with their errors, so that sending one again costs nothing. */
const mostRefused = 1000
/** Maximum characters of a message: it repeats names of the document, which can be long. */
const mostMessageCharacters = 500
/** Maximum number of errors reported for one document, and of locations for each. */
const mostErrors = 20
const mostPlaces = 10

/** A parsed document, or the errors of its text. */
export type Reading = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] }

/** Caches parsed documents: the same text always yields the same object, by which compiled plans are cached. */
export interface Documents {
  /**
   * Parses, measures and validates a text; errors carry the codes of GraphQL over HTTP.
   * @param hash the SHA-256 of the text in hex, if the caller has it already
   */
  read(text: string, hash?: string): Reading
  /** Returns a document that was read before, by the SHA-256 of its text in hex. */
  known(hash: string): DocumentNode | undefined
}

export interface DocumentsOptions {
  /** Whether clients may query the schema. */
  readonly introspection: boolean
  /** @default 50 directives, 8 levels */
  readonly defer?: DeferLimits | undefined
}

export function createDocuments(schema: GraphQLSchema, options: DocumentsOptions): Documents {
  const kept = new LRUCache<string, Kept>({ max: mostKept, maxSize: mostKeptBytes, sizeCalculation: each => each.bytes })
  const refused = new LRUCache<string, readonly GraphQLError[]>({ max: mostRefused })
  const general = [...specifiedRules, knownOperationKinds]
  const rules = options.introspection ? general : [...general, NoSchemaIntrospectionCustomRule]
  const deferring = deferRules(options.defer ?? usualDeferLimits)
  const mistakes = (document: DocumentNode): readonly GraphQLError[] => {
    try {
      return validate(schema, document, usesIncremental(document) ? [...rules, ...deferring] : rules, {
        maxErrors: mostErrors,
        hideSuggestions: !options.introspection,
      })
    } catch (error) {
      // graphql-js throws on a condition with a variable at the root of a subscription instead of reporting an error.
      if (error instanceof GraphQLError) return [error]
      throw error
    }
  }
  const judge = (text: string): DocumentNode | readonly GraphQLError[] => {
    if (text.length > limits.characters) return [tooManyCharacters()]
    let document: DocumentNode
    try {
      // Locations are computed only for errors: in the tree they take more memory than the tree itself.
      document = parse(text, { maxTokens: limits.tokens, noLocation: true })
    } catch (error) {
      // Any other error is a stack overflow: thousands of nested brackets.
      if (!(error instanceof GraphQLError) || error.message.includes('Parsing aborted')) return [tooManyTokens()]
      return [coded(error, 'GRAPHQL_PARSE_FAILED')]
    }
    const passed = passedLimit(document)
    if (passed) return [passed]
    if (mistakes(document).length === 0) return document
    return mistakes(parse(text)).map(error => coded(error, 'GRAPHQL_VALIDATION_FAILED'))
  }
  return {
    read(text, hash = hashOf(text)) {
      const known = kept.get(hash)
      if (known) return known
      const former = refused.get(hash)
      if (former) return { errors: former }
      const judged = judge(text)
      if ('kind' in judged) {
        // Names in the tree may be slices that keep the whole text in memory.
        const made = { document: judged, bytes: text.length + (judged.tokenCount ?? 0) * tokenBytes }
        kept.set(hash, made)
        return made
      }
      refused.set(hash, judged)
      return { errors: judged }
    },
    known: hash => kept.get(hash)?.document,
  }
}

/** Refuses operations whose kind the schema does not have: graphql-js checks that when it runs an operation only. */
const knownOperationKinds: ValidationRule = context => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return
    context.reportError(new GraphQLError(`Schema is not configured to execute ${node.operation} operation.`, { nodes: node }))
  },
})

/** Caches the documents of an engine whose graph may be replaced. */
export function documentsOf(engine: Engine, options: Parameters<typeof createDocuments>[1]): Documents {
  let current = createDocuments(engine.schema, options)
  if (!engine.onChange) return current
  engine.onChange(() => {
    current = createDocuments(engine.schema, options)
  })
  return {
    read(text, hash) {
      const read = current.read(text, hash)
      if ('document' in read) engine.adopt?.(read.document)
      return read
    },
    known: hash => current.known(hash),
  }
}

interface Kept {
  readonly document: DocumentNode
  readonly bytes: number
}

/** Returns the key of a document: the SHA-256 of its text in hex. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Explains why no operation of a document can run: an unknown name, or none where one is needed; undefined if one can
 * run.
 */
export function unresolvedOperation(document: DocumentNode, operationName: string | null | undefined): GraphQLError | undefined {
  if (getOperationAST(document, operationName)) return undefined
  const operations = document.definitions.filter(each => each.kind === Kind.OPERATION_DEFINITION).length
  const sentence =
    operationName !== null && operationName !== undefined
      ? `The document has no operation named "${shortened(operationName)}": name one that it has in operationName.`
      : operations === 0
        ? 'The document has no operation: write a query, a mutation or a subscription.'
        : `The document has ${operations} operations: name the one to run in operationName.`
  return new GraphQLError(sentence, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })
}

/** Copies an error for caching: it keeps its locations, but neither the source text nor the syntax tree. */
function coded({ message, locations, path }: GraphQLError, code: string): GraphQLError {
  const made = new GraphQLError(shortened(message), { path, extensions: { code } })
  if (locations) Object.defineProperty(made, 'locations', { value: locations.slice(0, mostPlaces), enumerable: true })
  return made
}

const shortened = (message: string): string => (message.length <= mostMessageCharacters ? message : `${message.slice(0, mostMessageCharacters)}…`)
