import type { Logger } from 'pino'
import type { EventIds, Events, Mark, Resync } from '../platform/events.ts'

export interface LookingAgainOptions {
  /** A listener that receives missed events. */
  readonly local: Pick<Events, 'announce' | 'listenerCount'>
  readonly log: Pick<Logger, 'warn'>
  /** Interval of the rounds in ms, varied by a tenth. @default 60000 */
  readonly everyMs?: number | undefined
  /** @default the system's clock */
  readonly now?: (() => number) | undefined
}

export interface LookingAgain {
  by(prefix: string, look: Resync): void
  /**
   * Called when topics get a listener.
   * @param unheardMs how long events may have been missed: events of that time are delivered now, possibly twice to
   * existing listeners
   */
  begin(topics: readonly string[], unheardMs?: number): void
  /** Called when an event of a topic is delivered. */
  announced(topic: string, ids: EventIds, mark: Mark | undefined): void
  /** The carrier was away: looks at every topic now. */
  now(): void
  stop(): void
}

/** A topic that somebody listens to. */
interface Live {
  readonly rest: string
  readonly look: Resync
  /** Time of the last resync: changes since then that are not marked as delivered will be delivered. */
  lookedAt: number
  /** Last delivered mark of each event, by its ids, with the time. */
  readonly marks: Map<string, { readonly mark: Mark; readonly at: number }>
  /** Whether the carrier was away since. */
  away: boolean
}

/** Overlap in ms with the last resync: clocks may differ by 30 s, and a change is committed later than its time. */
const overlapMs = 45_000
const clocksMs = 30_000
/** Maximum concurrent resyncs of topics, and pause in ms after a failed one. */
const atOnce = 3
const retryMs = 5_000
/** Maximum delay in ms of resyncs after the transport returned, varied between processes. */
const spreadMs = 300

/**
 * Resyncs topics with listeners, because events may be lost: once for each topic, however many listen. An event is
 * delivered when its mark differs from the last delivered one.
 */
export function createLookingAgain({ local, log, everyMs = 60_000, now = Date.now }: LookingAgainOptions): LookingAgain {
  const ways: { readonly prefix: string; readonly look: Resync }[] = []
  const live = new Map<string, Live>()
  let timer: NodeJS.Timeout | undefined
  let going = false
  let soon = false
  let over = false

  const arm = (ms: number) => {
    clearTimeout(timer)
    if (!over) timer = setTimeout(() => void goRound(), ms).unref()
  }
  const next = () => arm(everyMs * (0.9 + 0.2 * Math.random()))

  /**
   * @param tell whether found changes are delivered, or only marked as known: changes from before the first listener
   * are not delivered
   */
  const look = async (topic: string, each: Live, tell: boolean) => {
    const began = now()
    const { away } = each
    each.away = false
    try {
      const found = await each.look(each.rest, new Date(each.lookedAt - overlapMs), away)
      for (const { ids, mark } of found) {
        const key = JSON.stringify(ids)
        const known = mark !== undefined && each.marks.get(key)?.mark === mark
        if (mark !== undefined) each.marks.set(key, { mark, at: began })
        if (tell && !known && !over) local.announce(topic, ids)
      }
      each.lookedAt = began
    } catch (err) {
      each.away ||= away
      log.warn({ err }, 'reading missed events failed; it will be retried')
      return false
    }
    // Older events are not read again.
    for (const [key, { at }] of each.marks) if (at < began - overlapMs - clocksMs) each.marks.delete(key)
    return true
  }

  const liveOf = (topic: string): Live | null => {
    const way = ways.find(({ prefix }) => topic.startsWith(prefix))
    return way ? { rest: topic.slice(way.prefix.length), look: way.look, lookedAt: now(), marks: new Map(), away: false } : null
  }

  /** Delivers events since a moment, also those that other listeners here have received. */
  const goOn = async (topic: string, each: Live, since: number) => {
    each.lookedAt = Math.min(each.lookedAt, since)
    each.away = true
    each.marks.clear()
    if (await look(topic, each, true)) return
    // Another resync has done it meanwhile.
    each.lookedAt = Math.min(each.lookedAt, since)
    if (going) soon = true
    else arm(retryMs * (0.5 + Math.random()))
  }

  const goRound = async () => {
    if (going) {
      soon = true
      return
    }
    going = true
    soon = false
    const topics = [...live]
    let failed = false
    const work = async () => {
      for (let one = topics.pop(); one && !over; one = topics.pop()) {
        const [topic, each] = one
        if (local.listenerCount(topic) === 0) live.delete(topic)
        else if (!(await look(topic, each, true))) failed = true
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    going = false
    if (live.size === 0) clearTimeout(timer)
    else if (soon) arm(0)
    else if (failed) arm(retryMs * (0.5 + Math.random()))
    else next()
  }

  return {
    by: (prefix, way) => void ways.push({ prefix, look: way }),
    begin(topics, unheardMs) {
      for (const topic of topics) {
        const known = live.get(topic)
        const each = known ?? liveOf(topic)
        if (!each || (known && unheardMs === undefined)) continue
        if (live.size === 0) next()
        live.set(topic, each)
        if (unheardMs === undefined) void look(topic, each, false)
        else void goOn(topic, each, now() - unheardMs)
      }
    },
    announced(topic, ids, mark) {
      if (mark !== undefined) live.get(topic)?.marks.set(JSON.stringify(ids), { mark, at: now() })
    },
    now() {
      for (const each of live.values()) each.away = true
      if (going) soon = true
      else if (live.size > 0) arm(spreadMs * Math.random())
    },
    stop() {
      over = true
      clearTimeout(timer)
    },
  }
}
