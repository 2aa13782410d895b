import { setImmediate as turn } from 'node:timers/promises'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { DomainError } from '../../../platform/errors.ts'
import { createCounter } from '../../../platform/limit.ts'
import type { Engine, LiveSubscription, OperationRequest, Remains } from '../../engine/engine.ts'
import { createNames } from '../../metrics/names.ts'
import { type Channel, createChannel, type Membership, type Opener, type Patience } from './channel.ts'

/** A request for a stream. */
export interface Asked {
  readonly request: OperationRequest
  readonly formatErrors: Opener['formatErrors']
}

/** Shares one stream between all clients that may share it, whatever protocol they use. */
export interface Hub {
  /**
   * Joins a subscription, which is started for its first subscriber.
   * @param place from `reserve`: released when the subscription ends, or does not start
   * @returns a rejection, as a result, when it does not start
   */
  join(asked: Asked, place?: () => void): Promise<Membership | ExecutionResult>
  /**
   * Takes one of the caller's slots before any work for the subscription. @returns a function that releases it, or the
   * reason why there is none
   */
  reserve(caller: string): (() => void) | DomainError
  readonly figures: HubFigures
  /** Ends every stream because the process stops. */
  close(): void
}

export interface HubFigures {
  /** Open subscriptions of clients, by operation name. */
  subscriptions(): ReadonlyMap<string, number>
  /** Number of streams that serve the subscriptions. */
  upstreams(): number
  /** Runs of a plan for an event, since the start. */
  events(): number
  /** Number of events delivered to clients since the start, including earlier ones repeated for later subscribers. */
  deliveries(): number
}

export interface HubOptions {
  /** Maximum concurrent subscriptions of one person or key, or of one anonymous address. @default 200 */
  readonly perCaller?: number
  readonly patience?: Patience
  /** Called with an internal error that ended a stream. @default not called */
  failed?(cause: unknown): void
}

const usual: Patience = { lostMs: 60_000, firstMs: 250, longestMs: 5000 }

/** Maximum characters of a subscription's variables, as JSON: several copies exist while it is open. */
const mostVariables = 16 * 1024

/** Number of streams that are compared with a new graph before other work gets its turn of the event loop. */
const mostJudged = 20

/** Maximum number of operation names that are counted separately: clients choose the names. */
const mostNames = 500

export function createHub(engine: Engine, { perCaller = 200, patience = usual, failed = () => {} }: HubOptions = {}): Hub {
  /** Streams that others may join, by their keys. */
  const channels = new Map<string, Channel>()
  /** All streams, also those that go on from a former graph, with the request of their first subscriber. */
  const streams = new Map<Channel, { readonly request: OperationRequest; readonly basis: LiveSubscription['basis'] }>()
  const callers = createCounter()
  const open = new Map<string, number>()
  const names = createNames(mostNames)
  let [events, deliveries] = [0, 0]
  let graphs = 0
  const endAll = (error: typeof stopping) => {
    for (const channel of [...streams.keys()]) channel.end([error])
  }
  engine.onChange?.(remains => {
    graphs += 1
    // Later subscribers read the present graph, and join no stream of a former one.
    channels.clear()
    void endChanged(remains)
  })
  const endChanged = async (remains: Remains) => {
    for (const [index, [channel, { request, basis }]] of [...streams].entries()) {
      if (index > 0 && index % mostJudged === 0) await turn()
      const isSame = basis !== undefined && (await remains({ request, basis: basis() }).catch(() => false))
      if (!isSame) channel.end([changed])
    }
  }

  const channelOf = ({ key, basis }: LiveSubscription, request: OperationRequest): Channel => {
    const known = channels.get(key)
    if (known) return known
    const channel = createChannel({
      patience,
      failed,
      delivered(listeners) {
        events += 1
        deliveries += listeners
      },
      deliveredAgain(events) {
        deliveries += events
      },
      closed() {
        streams.delete(channel)
        if (channels.get(key) === channel) channels.delete(key)
      },
    })
    channels.set(key, channel)
    streams.set(channel, { request, basis })
    return channel
  }
  const counted = (name: string, by: 1 | -1) => {
    const count = (open.get(name) ?? 0) + by
    if (count > 0) open.set(name, count)
    else open.delete(name)
  }

  return {
    reserve(caller) {
      let isGiven = false
      const release = () => {
        if (!isGiven) callers.leave(caller)
        isGiven = true
      }
      if (callers.enter(caller) <= perCaller) return release
      release()
      return new DomainError('RATE_LIMITED', `At most ${perCaller} subscriptions of one caller may run at the same time: end one first.`)
    },
    async join({ request, formatErrors }, place = () => {}) {
      let joined: Membership | ExecutionResult
      let name = 'anonymous'
      try {
        const graph = graphs
        const prepared = areTooMany(request.variables) ? tooMany : await engine.prepareStream(request)
        if (graph !== graphs) joined = { errors: [new GraphQLError(changed.message, { extensions: changed.extensions })] }
        else if ('start' in prepared) {
          if (prepared.operationName !== null) name = names(prepared.operationName)
          joined = await channelOf(prepared, request).join({ start: prepared.start, inTurn: request.inTurn, leaving: request.signal, formatErrors })
        } else joined = prepared
      } catch (error) {
        place()
        throw error
      }
      if (!('listen' in joined)) {
        place()
        return joined
      }
      const membership = joined
      counted(name, 1)
      let isOver = false
      const leave = () => {
        if (isOver) return
        isOver = true
        request.signal?.removeEventListener('abort', leave)
        membership.leave()
        place()
        counted(name, -1)
      }
      request.signal?.addEventListener('abort', leave)
      if (request.signal?.aborted) leave()
      return {
        leave,
        cut: membership.cut,
        listen: listener =>
          membership.listen({
            send: listener.send,
            end(errors) {
              leave()
              listener.end(errors)
            },
          }),
      }
    },
    figures: { subscriptions: () => open, upstreams: () => streams.size, events: () => events, deliveries: () => deliveries },
    close: () => endAll(stopping),
  }
}

const areTooMany = (variables: OperationRequest['variables']) => variables !== undefined && JSON.stringify(variables).length > mostVariables
const tooMany: ExecutionResult = {
  errors: [
    new GraphQLError(`The variables of a subscription have at most ${mostVariables} characters as JSON: they are kept while it is open.`, {
      extensions: { code: 'BAD_USER_INPUT' },
    }),
  ],
}
const stopping = { message: 'This router is about to stop: subscribe again, another one answers.', extensions: { code: 'UPSTREAM_FAILED' } }
const changed = { message: 'The graph has changed: subscribe again, the present one answers.', extensions: { code: 'SUPERGRAPH_CHANGED' } }
