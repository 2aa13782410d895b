import { type Exchange, type HttpAnswer, type Origin, type OriginOptions, openOrigin, UpstreamFailure } from './exchange.ts'

/** Several addresses of one service, with the load and failures observed at each. */
export interface Replicas {
  /**
   * Sends work to one replica, and to another if the first could not be reached.
   * @param work rejects with `UpstreamFailure`
   * @param repeats whether the work was certainly not done after a failure @default only when it never left this
   * process
   */
  ask<Result>(work: (url: string) => Promise<Result>, repeats?: (failure: unknown) => boolean): Promise<Result>
}

interface Replica {
  readonly url: string
  /** Number of requests in progress at the replica. */
  running: number
  /** Until when the replica is avoided, in ms of the clock; then it gets one trial request. */
  restsUntil: number
  /** Duration of the next pause, in ms. */
  restMs: number
  /** Number of consecutive requests that were given up before an answer. */
  late: number
}

/** How long an unreachable replica is avoided, in ms: the time doubles while it stays unreachable. */
const rest = { first: 250, most: 5_000 }
/** Number of consecutive late answers after which a replica counts as unreachable. */
const mostLate = 3

const notSent = (failure: unknown): boolean => failure instanceof UpstreamFailure && failure.stage === 'unsent'

const neverAnswered = (failure: unknown): boolean => failure instanceof UpstreamFailure && failure.stage !== 'answered'

/**
 * Distributes work among replicas: to the one with the least in progress, in turn where they are even. A replica that
 * refuses or breaks connections, reports that it is not ready, or repeatedly answers too late is avoided for a while.
 * @param now monotonic clock in ms
 */
export function createReplicas(urls: readonly string[], now: () => number = () => performance.now()): Replicas {
  const replicas = urls.map((url): Replica => ({ url, running: 0, restsUntil: 0, restMs: rest.first, late: 0 }))
  let turn = 0

  const choose = (tried: ReadonlySet<Replica>): Replica => {
    const at = now()
    let best: Replica | undefined
    turn += 1
    for (let step = 0; step < replicas.length; step++) {
      const each = replicas[(turn + step) % replicas.length]!
      if (tried.has(each)) continue
      if (!best) best = each
      else if (each.restsUntil > at || best.restsUntil > at) best = each.restsUntil < best.restsUntil ? each : best
      else if (each.running < best.running) best = each
    }
    return best!
  }
  const fail = (replica: Replica) => {
    const at = now()
    // All requests to a replica fail in the same moment: they count as one failure.
    if (replica.restsUntil > at) return
    replica.restsUntil = at + replica.restMs
    replica.restMs = Math.min(rest.most, 2 * replica.restMs)
    replica.late = 0
  }
  const judge = (replica: Replica, failure: unknown) => {
    if (!(failure instanceof UpstreamFailure)) return
    if (failure.stage === 'unsent' || failure.stage === 'cut') fail(replica)
    else if (failure.stage === 'late' && ++replica.late >= mostLate) fail(replica)
  }

  return {
    async ask(work, repeats = notSent) {
      const tried = new Set<Replica>()
      for (;;) {
        const replica = choose(tried)
        tried.add(replica)
        replica.running += 1
        try {
          const result = await work(replica.url)
          replica.restMs = rest.first
          replica.restsUntil = 0
          replica.late = 0
          return result
        } catch (failure) {
          judge(replica, failure)
          if (tried.size === replicas.length || !repeats(failure)) throw failure
        } finally {
          replica.running -= 1
        }
      }
    },
  }
}

/** Status of a replica that accepts no requests and has not processed this one. */
export const notReadyStatus = 503
/** Header that marks such an answer, for callers that do not read the body. */
export const notReadyHeader = 'x-not-ready'
/**
 * Whether a replica rejects the request unprocessed: it shuts down, or it disagrees with the router's clock, and
 * another replica may not.
 */
const isNotReady = ({ status, text }: HttpAnswer): boolean =>
  (status === notReadyStatus && /"code":"NOT_READY"/.test(text)) || (status === 401 && /"untimely":true/.test(text))

/** Options for read-only requests, which may safely be sent twice. */
export interface ReadingOptions extends OriginOptions {
  /**
   * Milliseconds after which a silent replica is given up for another one that was not tried yet. @default no request
   * is sent twice
   */
  readonly elsewhereMs?: number | undefined
}

/**
 * Opens kept-alive connections to each of several origins, with the interface of one origin. A request that could not
 * be sent to one is sent to another, so a request that may have been processed is never repeated.
 * @param origins scheme, host and port of each
 * @param replicas state of the same addresses, shared with other users of it @default its own
 */
export function openOrigins(origins: readonly string[], { elsewhereMs, ...options }: ReadingOptions, replicas = createReplicas(origins)): Origin {
  if (origins.length === 1) return openOrigin(origins[0]!, options)
  const opened = new Map(origins.map(origin => [origin, openOrigin(origin, options)]))
  return {
    ask(question) {
      let current: Exchange | null = null
      let ended: Error | null = null
      let asked = 0
      const answer = replicas.ask(
        async origin => {
          if (ended) throw ended
          const exchange = opened.get(origin)!.ask(question)
          current = exchange
          asked += 1
          const giveUp = () => exchange.cancel(new UpstreamFailure('late', `${origin} did not answer within ${elsewhereMs} ms`))
          const silent = elsewhereMs !== undefined && asked < origins.length ? setTimeout(giveUp, elsewhereMs) : undefined
          const answered = await exchange.answer.finally(() => clearTimeout(silent))
          if (isNotReady(answered)) throw new UpstreamFailure('unsent', `${origin} takes no requests at this moment`)
          return answered
        },
        failure => !ended && (notSent(failure) || (elsewhereMs !== undefined && neverAnswered(failure))),
      )
      return {
        answer,
        cancel(failure) {
          ended ??= failure
          current?.cancel(failure)
        },
      }
    },
    close: async () => void (await Promise.all([...opened.values()].map(origin => origin.close()))),
  }
}
