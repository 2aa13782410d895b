import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { lineOf } from '../../../../start-error.ts'
import type { Figure, Reading } from '../../figure.ts'
import type { Observed } from './observed.ts'

/** What is sent to a collector of usage. */
export interface Report {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** Collects operations until a report is made of them. */
export interface Collector {
  readonly name: 'hive' | 'graphos'
  add(observed: Observed): void
  /** Number of operations since the last report. */
  readonly size: number
  /** Makes a report of what was collected; null where that is nothing. @param now ms since 1970 */
  take(now: number): Promise<Report | null>
}

export interface SendingOptions {
  readonly outbound: Outbound
  readonly everyMs: number
  readonly log: Pick<Logger, 'warn'>
  /** Pauses between the tries of a report, in ms. @default five tries within 15 s */
  readonly pauses?: readonly number[] | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** Sends what collectors collect. */
export interface Sending {
  add(observed: Observed): void
  readonly figure: Figure
  /** Sends what is left; what a collector does not take at once is dropped. */
  stop(): Promise<void>
}

interface Sender extends Omit<Sending, 'figure'> {
  readings(): readonly Reading[]
}

/** Number of operations after which a report is sent before its time. */
const maxOperations = 1_500
/** Maximum reports that wait while a collector is slow or away; the oldest is dropped. */
const maxWaiting = 10
/** Time limit of a call, in ms. */
const timeoutMs = 10_000

const retryable = (status: number | null): boolean => status === null || status === 408 || status === 429 || status >= 500

/** Starts to send reports, one at a time: operations never wait for them. */
export function startSending(collectors: readonly Collector[], options: SendingOptions): Sending {
  const senders = collectors.map(each => startSender(each, options))
  return {
    add(observed) {
      for (const sender of senders) sender.add(observed)
    },
    figure: {
      name: 'supergraph_usage_exports_total',
      help: 'Reports of usage to Hive and GraphOS: sent, or dropped after five tries.',
      labels: ['exporter', 'outcome'],
      read: () => senders.flatMap(each => each.readings()),
    },
    stop: async () => void (await Promise.all(senders.map(each => each.stop()))),
  }
}

function startSender(collector: Collector, { outbound, everyMs, log, pauses = [1_000, 2_000, 4_000, 8_000], now = Date.now }: SendingOptions): Sender {
  const waiting: Report[] = []
  const counts = { sent: 0, dropped: 0 }
  const stopping = new AbortController()
  let sending: Promise<void> | null = null
  let taking: Promise<void> = Promise.resolve()

  const drop = (why: string) => {
    counts.dropped += 1
    log.warn({ exporter: collector.name, why }, 'usage report dropped')
  }
  const send = async ({ url, headers, body }: Report): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      let [status, why]: [number | null, string] = [null, '']
      try {
        status = (await outbound(url, { method: 'POST', headers, body, timeoutMs })).status
        if (status >= 200 && status < 300) {
          counts.sent += 1
          return
        }
        why = `answered with ${status}`
      } catch (error) {
        why = lineOf(error)
      }
      const pause = pauses[attempt]
      if (stopping.signal.aborted) for (const _ of waiting.splice(0)) drop('the router stops')
      if (!retryable(status) || pause === undefined || stopping.signal.aborted) return drop(why)
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  const drain = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await send(next)
    sending = null
  }
  const flush = (): Promise<void> => {
    taking = taking.then(async () => {
      try {
        const report = await collector.take(now())
        if (!report) return
        waiting.push(report)
        if (waiting.length > maxWaiting) {
          waiting.shift()
          drop('too many reports wait')
        }
        sending ??= drain()
      } catch (error) {
        drop(lineOf(error))
      }
    })
    return taking
  }
  const timer = setInterval(() => void flush(), everyMs)
  timer.unref()
  return {
    add(observed) {
      collector.add(observed)
      if (collector.size >= maxOperations) void flush()
    },
    readings: () => Object.entries(counts).map(([outcome, value]) => ({ labels: { exporter: collector.name, outcome }, value })),
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await flush()
      await sending
    },
  }
}
