import { type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import type { Context, SubscribePayload } from 'graphql-ws'
import { type Cause, doFor } from '../../../platform/caller/cause.ts'
import { finished, type Span, type Tracing } from '../../../platform/caller/trace.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Caller } from '../../access/authenticate.ts'
import type { Claim } from '../../access/callers/claim.ts'
import type { Engine, OperationRequest, Payload } from '../../engine/engine.ts'
import type { KeyRates } from '../../live/key-rates.ts'
import type { Hub } from '../../live/shared/hub.ts'
import type { StreamMessage } from '../../live/shared/message.ts'
import { inTurnOf, type Shares } from '../../live/shares.ts'
import { createNames } from '../../metrics/names.ts'
import { anonymous, describeOperation, markOperation } from '../../metrics/operation-span.ts'
import { type CountError, productOf } from '../../metrics/operations.ts'
import { usesIncremental } from '../documents/deferring.ts'
import { type Reading, unresolvedOperation } from '../documents/documents.ts'
import type { Found } from '../documents/sources.ts'
import { isIncremental } from './payloads.ts'
import { payloadsOf, sendUnder, underWay } from './pushed.ts'
import { type Extra, socketLimits } from './socket.ts'

/** An operation that a socket carries. */
export interface Asked extends OperationRequest {
  readonly cause: Cause
  readonly claim: Claim
  readonly by: Caller
  /** Aborts when the operation ends before it has a result. */
  readonly signal: AbortSignal
  /** Sends an event of the operation. */
  send(message: StreamMessage): void
  /** The socket's subscriptions whose events have parts that come later; null for an operation of another kind. */
  readonly open: Extra['open'] | null
  /** Releases the operation's slot among its caller's subscriptions. */
  place(): void
}

export /** A subscribe message and its size in bytes. */
interface Subscribing {
  readonly id: string
  readonly payload: SubscribePayload
  readonly cause: Cause & { readonly requestId: string }
  readonly bytes: number
}

/** Data that an operation of a socket carries through graphql-ws. */
interface Operation extends ExecutionArgs {
  readonly contextValue: Asked
}

/** Maximum number of operation names used for spans: clients choose the names. */
const mostNames = 500

export type Socket = Context<Record<string, unknown> | undefined, Extra>

const wrong = { extensions: { code: 'BAD_USER_INPUT' } }

/** What beginning and running operations needs of the door. */
interface OperationDoor {
  readonly engine: Engine
  readonly hub: Hub
  readonly keyRates: KeyRates
  readonly events: Shares
  readonly countError?: CountError | undefined
  readonly tracing?: Tracing | undefined
}

/** Begins and runs operations of sockets. */
export function createOperations({ engine, hub, keyRates, events, countError, tracing }: OperationDoor) {
  /**
   * Returns what graphql-ws runs for a subscribe message after its document was found, or the errors why nothing can
   * run.
   */
  function begin({ extra, subscriptions }: Socket, { id, payload, cause, bytes }: Subscribing, read: Found | Reading): readonly GraphQLError[] | Operation {
    if ('errors' in read) return read.errors
    const unresolved = unresolvedOperation(read.document, payload.operationName)
    if (unresolved) return [unresolved]
    const { claim } = extra
    let place = () => {}
    const isSubscription = getOperationAST(read.document, payload.operationName)?.operation === 'subscription'
    const incremental = engine.executeIncrementally && usesIncremental(read.document) ? (extra.incremental ?? undefined) : undefined
    if (isSubscription || incremental) {
      if (isSubscription && bytes > socketLimits.subscriptionBytes)
        return [new GraphQLError(`A message that subscribes has at most ${socketLimits.subscriptionBytes} bytes: ask for less at once.`, wrong)]
      const reserved = hub.reserve(claim.caller)
      if (reserved instanceof DomainError) return [new GraphQLError(reserved.message, { extensions: reserved.extensions })]
      place = reserved
    }
    const { signal, kept } = underWay()
    subscriptions[id] = kept
    const request: Asked = {
      claim,
      by: extra.caller!,
      inTurn: inTurnOf(events, claim, cause),
      cause,
      document: read.document,
      graphVariant: extra.variant,
      operationName: payload.operationName ?? undefined,
      variables: payload.variables ?? undefined,
      viewer: extra.caller!.viewer,
      requestId: cause.requestId,
      headers: extra.headers,
      incremental,
      signal,
      send: sendUnder(id, extra.send),
      open: isSubscription && incremental ? extra.open : null,
      place,
    }
    return {
      schema: engine.schema,
      document: read.document,
      operationName: payload.operationName,
      variableValues: payload.variables,
      contextValue: request,
    } satisfies Operation
  }

  /**
   * Runs an operation of a socket when its caller has a free slot. A rejection is returned as a result, because a throw
   * would end the socket.
   */
  async function inShare<Result>(of: Shares, asked: Asked, work: (asked: Asked) => Promise<Result>): Promise<Result | ExecutionResult> {
    try {
      const counted = keyRates.count(asked.by)
      if (counted) await counted
      const run = () => of.run(asked.claim, () => work(asked), asked.signal)
      const span = tracing && beginMessage(tracing, asked)
      return await doFor(asked.cause, () => (span ? finished(span, run) : run()))
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (!asked.signal.aborted) countError?.(error)
      return { errors: [new GraphQLError(error.message, { extensions: error.extensions })] }
    }
  }

  const names = createNames(mostNames)
  /** Begins the span of the operation in a message. */
  function beginMessage(tracing: Tracing, { document, operationName, headers, requestId, cause }: Asked): Span {
    const definition = getOperationAST(document, operationName)
    const { name, facts } = describeOperation(definition?.operation ?? 'query', names(definition?.name?.value ?? anonymous))
    const more = { requestId, 'network.protocol.name': 'websocket', client: productOf(cause.client) }
    const span = tracing.begin(name, 'server', headers?.get('traceparent'), { ...facts, ...more })
    markOperation(span)
    return span
  }

  /**
   * Runs an operation with deferred fragments. It keeps its slots until its answer has ended.
   * @returns the payloads, or one result where nothing is deferred
   */
  async function executeLater(shares: Shares, asked: Asked): Promise<AsyncGenerator<Payload, undefined> | ExecutionResult> {
    const started = Promise.withResolvers<AsyncGenerator<Payload, undefined> | ExecutionResult>()
    const run = inShare(shares, asked, async request => {
      const result = await engine.executeIncrementally!(request)
      if (!isIncremental(result)) return result
      const { payloads, ended } = payloadsOf(result)
      started.resolve(payloads)
      await ended
      return {}
    })
    run.then(started.resolve, started.reject).finally(asked.place)
    return started.promise
  }

  return { begin, inShare, executeLater }
}
