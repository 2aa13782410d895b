import { createHash } from 'node:crypto'
import { type DocumentNode, type ExecutionResult, type GraphQLSchema, OperationTypeNode } from 'graphql'
import type { Logger } from 'pino'
import { type ClientProgram, programNow } from '../../../../platform/caller/cause.ts'
import type { Engine, OperationRequest } from '../../../engine/engine.ts'
import { findOperation } from '../../../engine/operation/operation.ts'
import { createClients } from '../clients.ts'
import { usedBy } from '../coordinates.ts'
import { normalisedDocument } from '../normalised.ts'
import { dayNumberOf } from '../sums.ts'

/** An operation as collectors of usage know it: without literals, values of variables and persons. */
export interface ObservedOperation {
  /** Identifies its text. */
  readonly key: string
  /** Null for one without a name. */
  readonly name: string | null
  readonly type: OperationTypeNode
  /** Its document without literals. */
  readonly text: string
  /** Schema coordinates that it uses (`usedBy`). */
  readonly coordinates: readonly string[]
  readonly document: DocumentNode
  readonly schema: GraphQLSchema
}

/** One execution of an operation. */
export interface Observed {
  readonly operation: ObservedOperation
  readonly client: ClientProgram
  /** When it began, in ms since 1970. */
  readonly at: number
  /** Milliseconds until its answer, or until its stream could begin. */
  readonly ms: number
  /** Number of errors of the answer. */
  readonly errors: number
}

export interface ObservingOptions {
  /** Share of operations that are observed, from 0 to 1. */
  readonly sampleRate: number
  readonly log: Pick<Logger, 'error'>
  /** @returns a number from 0 to 1 @default Math.random */
  readonly random?: (() => number) | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Monotonic ms. @default performance.now */
  readonly elapsed?: (() => number) | undefined
}

/**
 * Wraps an engine to observe its operations. What an operation is gets found once for its document; an error of
 * observing fails no operation. Introspection alone is not observed, for it uses nothing that could be removed.
 */
export function observe(engine: Engine, take: (observed: Observed) => void, options: ObservingOptions): Engine {
  const { sampleRate, log, random = Math.random, now = Date.now, elapsed = () => performance.now() } = options
  const known = new WeakMap<DocumentNode, Map<string | undefined, ObservedOperation>>()
  let [day, boundedClient] = [dayNumberOf(now()), createClients()]

  const operationOf = ({ document, operationName }: OperationRequest): ObservedOperation | null => {
    const ofDocument = known.get(document) ?? new Map<string | undefined, ObservedOperation>()
    const found = ofDocument.get(operationName)
    if (found?.schema === engine.schema) return found
    const read = readOperation(engine.schema, document, operationName)
    // Names of unknown operations are not kept.
    if (read) known.set(document, ofDocument.set(operationName, read))
    return read
  }
  /** Callers name clients as they like: collectors get as many of a day as are recorded. */
  const clientOf = (client: ClientProgram, at: number): ClientProgram => {
    if (dayNumberOf(at) > day) [day, boundedClient] = [dayNumberOf(at), createClients()]
    return boundedClient(client)
  }
  /** @returns a function that ends the observation; undefined where the operation is not observed */
  const begin = (request: OperationRequest): ((result: Pick<ExecutionResult, 'errors'> | null) => void) | undefined => {
    if (sampleRate < 1 && random() >= sampleRate) return undefined
    const [at, began, client] = [now(), elapsed(), programNow()]
    return result => {
      try {
        const operation = operationOf(request)
        if (!operation || operation.coordinates.length === 0) return
        take({ operation, client: clientOf(client, at), at, ms: elapsed() - began, errors: result ? (result.errors?.length ?? 0) : 1 })
      } catch (err) {
        log.error({ requestId: request.requestId, err }, 'operation not counted for export')
      }
    }
  }
  const observed = async <Result extends object>(request: OperationRequest, run: () => Promise<Result>): Promise<Result> => {
    const end = begin(request)
    if (!end) return run()
    let result: Result | null = null
    try {
      result = await run()
      return result
    } finally {
      end(result as Pick<ExecutionResult, 'errors'> | null)
    }
  }

  return {
    ...engine,
    get schema() {
      return engine.schema
    },
    execute: request => observed(request, () => engine.execute(request)),
    ...(engine.executeIncrementally && {
      executeIncrementally: (request: OperationRequest) => observed(request, () => engine.executeIncrementally!(request)),
    }),
    prepareStream: request => observed(request, () => engine.prepareStream(request)),
  }
}

function readOperation(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): ObservedOperation | null {
  const operation = findOperation(document, operationName)
  if (typeof operation === 'string') return null
  const { definition } = operation
  const [name, text] = [definition.name?.value ?? null, normalisedDocument(document, operationName)!]
  return {
    key: createHash('sha256').update(text).digest('hex'),
    name,
    type: definition.operation,
    text,
    coordinates: usedBy(schema, document, operationName)?.coordinates ?? [],
    document,
    schema,
  }
}

/** Whether an operation is a subscription. */
export const isSubscription = ({ type }: ObservedOperation): boolean => type === OperationTypeNode.SUBSCRIPTION
