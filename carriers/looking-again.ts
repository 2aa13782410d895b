import type { Logger } from 'pino'
import type { EventIds, Events, Mark, Resync } from '../platform/events.ts'

export interface LookingAgainOptions {
  /** A listener that receives missed events. */
  readonly local: Pick<Events, 'announce' | 'listenerCount'>
  readonly log: Pick<Logger, 'warn'>
  /** Milliseconds from round to round, a tenth more or less. @default 60000 */
  readonly everyMs?: number | undefined
  /** @default the system's clock */
  readonly now?: (() => number) | undefined
}

export interface LookingAgain {
  by(prefix: string, look: Resync): void
  /**
   * Somebody listens to these topics now.
   * @param unheardMs how long events may have been missed: events of that time are delivered now, possibly twice to existing listeners
   */
  begin(topics: readonly string[], unheardMs?: number): void
  /** An event of a topic is being told. */
  announced(topic: string, ids: EventIds, mark: Mark | undefined): void
  /** The carrier was away: looks at every topic now. */
  now(): void
  stop(): void
}

/** A topic that somebody listens to. */
interface Live {
  readonly rest: string
  readonly look: Resync
  /** When it was last looked at, by the clock; what was written by then and is not marked as told is told. */
  lookedAt: number
  /** What events stood at when they were last told, by their ids, and when that was. */
  readonly marks: Map<string, { readonly mark: Mark; readonly at: number }>
  /** Whether the carrier was away since. */
  away: boolean
}

/** How far back before the last look the next one goes, in ms: clocks may differ by 30 s, and a change is written at the end of its transaction. */
const overlapMs = 45_000
const clocksMs = 30_000
/** How many topics are looked at at the same time, and how long until a look that failed is tried again, in ms. */
const atOnce = 3
const retryMs = 5_000
/** After how long, at most, all look when the carrier is back, in ms: not every process in the same moment. */
const spreadMs = 300

/**
 * Looks again at the topics that somebody listens to, for events may be lost on their way: once a topic, however many listen, and in the
 * process that listens. An event is told when its mark is another one than it was told with.
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

  /** @param tell whether found changes are delivered, or only marked as known: changes from before the first listener are not delivered */
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

  /** Delivers events announced since then, also those that other listeners here have received. */
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
