import { type Exchange, type HttpAnswer, type Origin, type OriginOptions, openOrigin, UpstreamFailure } from './exchange.ts'

/** Several addresses of the same, told apart by what is seen of each. */
export interface Replicas {
  /**
   * Sends work to one replica, and to another if the first could not be reached.
   * @param work rejects with `UpstreamFailure`
   * @param repeats whether a failure leaves the work undone @default those that never left this process
   */
  ask<Result>(work: (url: string) => Promise<Result>, repeats?: (failure: unknown) => boolean): Promise<Result>
}

interface Replica {
  readonly url: string
  /** What is under way at it. */
  running: number
  /** Until when it is left alone, on the clock; then one is tried again. */
  restsUntil: number
  /** How long the next rest is, in ms. */
  restMs: number
  /** How many in turn were given up before they were answered. */
  late: number
}

/** How long one is left alone that could not be reached, in ms: it doubles as long as it cannot. */
const rest = { first: 250, most: 5_000 }
/** So many in turn that were not answered in time, and it counts as one that cannot be reached. */
const mostLate = 3

const notSent = (failure: unknown): boolean => failure instanceof UpstreamFailure && failure.stage === 'unsent'

const neverAnswered = (failure: unknown): boolean => failure instanceof UpstreamFailure && failure.stage !== 'answered'

/**
 * Shares work among replicas: it goes to the one with the least under way, in turn where they are even. One that refuses connections,
 * breaks them, says that it is not ready, or does not answer in time again and again is left alone for a while.
 * @param now ms that only grow
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

/** What a replica answers that takes no requests, before it has done anything for them. */
export const notReadyStatus = 503
/** Names such an answer where its body is not read. */
export const notReadyHeader = 'x-not-ready'
/** It leaves, or it does not believe the router's clock: another one does perhaps. */
const isNotReady = ({ status, text }: HttpAnswer): boolean =>
  (status === notReadyStatus && /"code":"NOT_READY"/.test(text)) || (status === 401 && /"untimely":true/.test(text))

/** For questions that change nothing, and so may be asked twice. */
export interface ReadingOptions extends OriginOptions {
  /** Milliseconds after which one that says nothing is given up for another that was not asked yet. @default nothing is asked twice */
  readonly elsewhereMs?: number | undefined
}

/**
 * Kept-alive connections to each of several origins, in the form of one origin. What could not be sent to one is sent to another, so nothing
 * is asked twice that may have been done.
 * @param origins scheme, host and port of each
 * @param replicas by the same addresses; what is seen of them counts for whoever has it @default its own
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
