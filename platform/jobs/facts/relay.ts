import { type Clock as JobClock, systemClock as systemJobClock } from 'pg-boss'
import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../clock.ts'
import { crash } from '../../crash.ts'
import { rows } from '../../sql/statement.ts'
import { within } from '../deadline.ts'
import type { Sweep } from '../queue.ts'
import type { Fact, FactCarrier } from './fact.ts'
import type { Outbox } from './outbox.ts'

/**
 * Interval in ms at which due facts are searched for: those of ended processes, and those that wait for their next
 * attempt.
 */
const everyMs = 15_000
/** Maximum number of facts taken in one search, and delivered to one receiver at once. */
const mostTaken = 32
const atOnce = 4
/** Time limit in ms for a receiver to handle one fact. */
const timeoutMs = 5_000
/** Time in ms for which a fact is reserved for the process that took it. */
const leaseMs = 15_000
/** Consecutive failures after which a receiver is skipped until the next search. */
const mostFailures = 3
/**
 * Attempt from which on a failure is logged as a warning: processes that start together are not ready at the same time.
 */
const worthAWarning = 3
/** The longest pause between two tries, in ms. */
const longestPauseMs = 30_000
/** Maximum characters of a receiver's stored error. */
const longestFailure = 500

/** Returns the pause in ms after a number of attempts: it grows, to spare a receiver that is down, up to a maximum. */
export const pauseMs = (attempts: number): number => Math.min(250 * 2 ** Math.min(attempts, 10), longestPauseMs)

/** Delivers the facts of one writer to their receivers. Any number of processes may run it at the same time. */
export interface Relay {
  /** Searches for due facts; deliveries continue by themselves, so a slow receiver delays no other. */
  readonly sweep: Sweep
  /** Searches at once, because facts were written. */
  wake(): void
  /** Takes no more facts, and waits for running deliveries. */
  stop(): Promise<void>
}

interface Taken extends Omit<Fact, 'from'> {
  readonly receiver: string
  /** Sequence number as text: it may exceed a JavaScript number. */
  readonly seq: string
  readonly attempts: number
}

export interface RelayParts {
  readonly slug: string
  readonly outbox: Outbox
  readonly sequelize: Sequelize
  readonly clock: Clock
  readonly carrier: FactCarrier
  readonly log: Logger
  /** Timers for deadlines. @default the system's */
  readonly timers?: JobClock
}

/** Deliveries in progress to one receiver. */
interface Lane {
  /** Facts taken but not delivered yet. */
  readonly waiting: Taken[]
  running: number
  /** Consecutive failures. */
  failures: number
}

export function createRelay({ slug, outbox, sequelize, clock, carrier, log, timers = systemJobClock }: RelayParts): Relay {
  const lanes = new Map<string, Lane>()
  /** Receivers that were skipped because enough deliveries to them are in progress. */
  const passedOver = new Set<string>()
  const running = new Set<Promise<void>>()
  let begin: (ms?: number) => void = () => {}
  let over = false

  const laneTo = (receiver: string): Lane => {
    const lane = lanes.get(receiver) ?? { waiting: [], running: 0, failures: 0 }
    lanes.set(receiver, lane)
    return lane
  }

  async function look(): Promise<void> {
    if (over) return
    const now = clock.now()
    const full = [...lanes].filter(([, lane]) => lane.running >= atOnce).map(([receiver]) => receiver)
    for (const receiver of full) passedOver.add(receiver)
    const taken = await rows<Taken>(sequelize, outbox.take, [now, new Date(now.getTime() + leaseMs), full, mostTaken])
    if (taken.length === 0) return
    crash('fact-taken')
    for (const [receiver, facts] of Map.groupBy(taken, fact => fact.receiver)) {
      const lane = laneTo(receiver)
      lane.waiting.push(...facts)
      while (lane.running < atOnce && lane.waiting.length > 0) run(receiver, lane, lane.waiting.shift()!)
    }
    // Facts for other receivers may be waiting.
    if (taken.length === mostTaken) begin()
  }

  /** Delivers a fact to one receiver, then the facts queued behind it, one after another. */
  function run(receiver: string, lane: Lane, first: Taken): void {
    lane.running += 1
    const work = (async () => {
      for (let fact: Taken | undefined = first; fact; fact = lane.waiting.shift()) {
        lane.failures = (await tell(fact)) ? 0 : lane.failures + 1
        if (lane.failures >= mostFailures) await release(receiver, lane)
      }
    })()
      .catch(error => log.error({ err: error, receiver }, 'results of fact deliveries could not be stored; the facts will be delivered again'))
      .finally(() => {
        lane.running -= 1
        running.delete(work)
        if (passedOver.delete(receiver)) begin()
      })
    running.add(work)
  }

  /** Releases the waiting facts of a receiver that does not answer, for a later attempt. */
  async function release(receiver: string, lane: Lane): Promise<void> {
    lane.failures = 0
    const seqs = lane.waiting.splice(0).map(({ seq }) => seq)
    if (seqs.length === 0) return
    const again = pauseMs(1)
    await rows(sequelize, outbox.release, [receiver, seqs, new Date(clock.now().getTime() + again)])
    begin(again)
  }

  /** Delivers one fact to a receiver and stores the result. @returns whether the receiver answered */
  async function tell(taken: Taken): Promise<boolean> {
    const { receiver, seq, attempts, ...fact } = taken
    const about = { receiver, kind: fact.kind, fact: fact.id, subject: fact.subject }
    let receipt: Awaited<ReturnType<FactCarrier['carry']>>
    try {
      receipt = await within(timers, timeoutMs, `telling ${receiver}`, carrier.carry(receiver, { ...fact, from: slug }))
    } catch (error) {
      const again = pauseMs(attempts)
      const level = attempts < worthAWarning ? 'info' : 'warn'
      log[level]({ err: error, ...about, attempts, againMs: again }, 'a fact could not be delivered; it is told again')
      await rows(sequelize, outbox.failed, [receiver, seq, new Date(clock.now().getTime() + again), inWords(error)])
      begin(again)
      return false
    }
    crash('fact-answered')
    if (receipt === 'received') {
      const [noted] = await rows<{ isFollowed: boolean }>(sequelize, outbox.delivered, [receiver, seq, clock.now()])
      if (noted?.isFollowed) begin()
    } else {
      log.error({ ...about, refused: receipt.refused }, 'fact refused by its receiver: npm run facts -- list shows it')
      await rows(sequelize, outbox.refused, [receiver, seq, receipt.refused.slice(0, longestFailure)])
    }
    return true
  }

  return {
    sweep: {
      name: 'facts',
      everyMs,
      run: look,
      wakes: wake => {
        begin = wake
      },
    },
    wake: () => begin(),
    async stop() {
      over = true
      await Promise.all(running)
    },
  }
}

const inWords = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, longestFailure)
