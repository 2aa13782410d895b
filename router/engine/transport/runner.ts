import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Fetch } from '../engine.ts'
import { withArgumentMistakes } from './argument-mistakes.ts'
import { compileDocument, loadCompiler, type Run } from './compiled.ts'
import { jsonSafe } from './json-safe.ts'
import { meterLists } from './lists.ts'

/** How often a document is executed by graphql-js before it is compiled: for a single run, compiling does not pay. */
const coldRuns = 2

/** Maximum number of cached texts: plans of different operations often contain the same fetch. */
const mostTexts = 1000

/**
 * Executes fetches on one schema: first with graphql-js, compiled once they are repeated. Documents must be valid, and
 * the same object for the same fetch, because compiled code is cached for as long as the document lives.
 */
export function createRunner(schema: GraphQLSchema): (fetch: Fetch) => Run {
  meterLists(Object.values(schema.getTypeMap()))
  const runs = new WeakMap<DocumentNode, Run>()
  const byText = new LRUCache<string, Run>({ max: mostTexts })
  return ({ document, text }) => {
    const known = runs.get(document)
    if (known) return known
    const run = byText.get(text) ?? warmingRun(schema, document)
    byText.set(text, run)
    runs.set(document, run)
    return run
  }
}

function warmingRun(schema: GraphQLSchema, document: DocumentNode): Run {
  const interpreted: Run = async (contextValue, variableValues, rootValue) => {
    const result = await execute({ schema, document, contextValue, rootValue, variableValues })
    return result.data === undefined ? result : { ...result, data: jsonSafe(result.data) as ExecutionResult['data'] & object }
  }
  let current = interpreted
  let left = coldRuns
  const told = (result: ExecutionResult) => withArgumentMistakes(schema, document, result)
  return (contextValue, variables, rootValue) => {
    if (left > 0 && --left === 0) {
      loadCompiler().then(compiler => {
        current = (compiler && compileDocument(compiler, schema, document, interpreted)) ?? interpreted
      })
    }
    const result = current(contextValue, variables, rootValue)
    return result instanceof Promise ? result.then(told) : told(result)
  }
}
