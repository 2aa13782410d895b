import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import '../data/code.ts'
import { createSerializers } from '../repairs/jit-null-scalars/serializers.ts'
import { mayCompile } from '../repairs/jit-other-answers/may-compile.ts'
import { asRefusedArgument } from '../repairs/jit-uncoded-arguments/refused-argument.ts'
import { jsonSafe } from './json-safe.ts'

/** Executes one document on one schema; data is JSON-safe. */
export type Run = (contextValue: object, variables: Readonly<Record<string, unknown>>, rootValue?: unknown) => ExecutionResult | Promise<ExecutionResult>

type Compiler = typeof import('graphql-jit')

let loading: Promise<Compiler | null> | null = null

/** Loads the compiler at its first use; null where it cannot work, e.g. where code generation is forbidden. */
export const loadCompiler = (): Promise<Compiler | null> => {
  loading ??= import('graphql-jit').catch(() => null)
  return loading
}

/**
 * Compiles a document with graphql-jit to a function with the same results as graphql-js. Undefined for documents that
 * graphql-jit runs differently (`mayCompile`) or not at all.
 * @param schema      metered (`meterLists`): graphql-jit needs lists whose elements are settled
 * @param interpreted runs the same document with graphql-js; used when variables are rejected, because the messages
 * differ
 */
export function compileDocument(compiler: Compiler, schema: GraphQLSchema, document: DocumentNode, interpreted: Run): Run | undefined {
  if (!mayCompile(schema, document)) return undefined
  const compiled = compiler.compileQuery(schema, document, undefined, {
    customSerializers: createSerializers(schema, jsonSafe),
    disablingCapturingStackErrors: true,
  })
  if (!compiler.isCompiledQuery(compiled)) return undefined
  return (contextValue, variables, rootValue) => {
    const result = compiled.query(rootValue, contextValue, variables as Record<string, unknown>)
    return result instanceof Promise ? result.then(checked) : checked(result)

    function checked(result: ExecutionResult): ExecutionResult | Promise<ExecutionResult> {
      if (!result.errors) return result
      // Without data nothing was executed.
      if (result.data === undefined) return interpreted(contextValue, variables, rootValue)
      return { data: result.data, errors: result.errors.map(asRefusedArgument) }
    }
  }
}
