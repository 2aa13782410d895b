import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import '../code.ts'
import { createSerializers } from '../repairs/jit-null-scalars/serializers.ts'
import { mayCompile } from '../repairs/jit-other-answers/may-compile.ts'
import { asRefusedArgument } from '../repairs/jit-uncoded-arguments/refused-argument.ts'
import { jsonSafe } from './json-safe.ts'

/** Executes one document on one schema; data is JSON-safe. */
export type Run = (contextValue: object, variables: Readonly<Record<string, unknown>>, rootValue?: unknown) => ExecutionResult | Promise<ExecutionResult>

type Compiler = typeof import('graphql-jit')

let loading: Promise<Compiler | null> | null = null

/** The compiler, loaded when something is worth compiling; null where it cannot work, e.g. where code may not be generated. */
export const loadCompiler = (): Promise<Compiler | null> => {
  loading ??= import('graphql-jit').catch(() => null)
  return loading
}

/**
 * Compiles a document with graphql-jit, to a run that answers what graphql-js would. Undefined for documents that it would
 * run otherwise (`mayCompile`) or not at all.
 * @param schema      metered (`meterLists`): graphql-jit needs lists whose elements have come
 * @param interpreted runs the same document with graphql-js; asked when variables are refused, for the words of that differ
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
