import type { Logger } from 'pino'
import { createMemoryEvents, type EventIds, type Events, type Mark, unheardMs } from '../platform/events.ts'
import { newId } from '../platform/ids.ts'
import { type Carrier, mostBytes } from './carrier.ts'
import { createLookingAgain, type LookingAgainOptions } from './looking-again.ts'
import { createWatching, type EventsWatch, type Watcher } from './watch.ts'

/** Events that reach the listeners of every process. */
export interface CarriedEvents extends Events {
  /**
   * Returns a notice for readiness while events of other processes do not arrive: screens are then up to a minute late.
   */
  check(): Promise<string | undefined>
  /** Passes every event on, of this process too; costs other processes a message three times a second. */
  watch(watcher: Watcher): EventsWatch
  /** Sends waiting events for half a second at most, and ends the transport. Idempotent. */
  stop(): Promise<void>
}

export interface CarriedEventsOptions extends Pick<LookingAgainOptions, 'now'> {
  /** Transports events to other processes; null for a single process. */
  readonly carrier: Carrier | null
  readonly log: Logger
}

/** Maximum waiting events; equal ones count once, and above it the oldest are dropped. */
const mostWaiting = 10_000
/** Milliseconds until unsent events are tried again, and the time for the last of them at the end. */
const retryMs = 1_000
const lastMs = 500

type Announced = readonly [topic: string, ids: EventIds, mark?: Mark]

/**
 * Creates the events of one process: its own listeners receive events at once, those of other processes by the
 * transport, without waiting for it. A burst is sent together, equal events once.
 */
export function createCarriedEvents({ carrier, log, now }: CarriedEventsOptions): CarriedEvents {
  const local = createMemoryEvents()
  const looking = createLookingAgain({ local, log, now })
  /** Id by which this process recognizes its own events from the transport. */
  const origin = newId()
  const watching = createWatching(carrier, beat => carrier!.send([`["${origin}",[],${beat}]`]))
  const waiting = new Map<string, Announced>()
  let sending: Promise<void> | null = null
  let retry: NodeJS.Timeout | undefined
  let stopped: Promise<void> | undefined

  const put = (key: string, event: Announced) => {
    waiting.delete(key)
    waiting.set(key, event)
    if (waiting.size > mostWaiting) waiting.delete(waiting.keys().next().value!)
  }
  const flush = async () => {
    // Events announced in the same turn, or while the former batch is being sent, share one batch.
    await new Promise(resolve => setImmediate(resolve))
    while (waiting.size > 0) {
      const batch = [...waiting]
      waiting.clear()
      try {
        await carrier!.send(packed(origin, batch))
      } catch {
        // Announced by the event transport. Events announced again meanwhile are queued already.
        for (const [key, event] of batch.reverse()) if (!waiting.has(key)) waiting.set(key, event)
        return
      }
    }
  }
  const send = () => {
    if (sending || stopped) return
    clearTimeout(retry)
    sending = flush().finally(() => {
      sending = null
      if (waiting.size > 0) retry = setTimeout(send, retryMs).unref()
    })
  }
  const tell = (topic: string, ids: EventIds, mark?: Mark) => {
    looking.announced(topic, ids, mark)
    // First, so that whoever reads on the event finds no old answer.
    watching.announced(topic, ids)
    local.announce(topic, ids)
  }

  carrier?.start({
    heard(text) {
      const message = read(text)
      if (!message) return log.warn('event ignored: its format is unknown, so another version of the platform sent it')
      if (message.origin !== origin) for (const [topic, ids, mark] of message.events) tell(topic, ids, mark)
      else if (message.beat !== undefined) watching.beat(message.beat)
    },
    connected(again) {
      if (again) watching.missed()
      if (again) looking.now()
      if (waiting.size > 0) send()
    },
  })

  return {
    announce(topic, ids, mark) {
      tell(topic, ids, mark)
      if (!carrier) return
      const event: Announced = mark === undefined ? [topic, ids] : [topic, ids, mark]
      if (Buffer.byteLength(JSON.stringify(event)) > mostBytes - 100)
        return log.error({ topic }, 'event not sent to other processes: too long; an event should carry only ids')
      put(JSON.stringify([topic, ids]), event)
      send()
    },
    listen(topics) {
      const stream = local.listen(topics)
      looking.begin(topics, unheardMs())
      return stream
    },
    resync: looking.by,
    listenerCount: local.listenerCount,
    check: async () => carrier?.trouble() ?? undefined,
    watch: watching.watch,
    stop() {
      stopped ??= (async () => {
        looking.stop()
        watching.stop()
        clearTimeout(retry)
        const last = sending ?? (carrier && waiting.size > 0 ? flush() : null)
        let late: NodeJS.Timeout | undefined
        if (last) await Promise.race([last, new Promise(resolve => (late = setTimeout(resolve, lastMs)))])
        clearTimeout(late)
        await carrier?.stop()
      })()
      return stopped
    },
  }
}

/** Packs events into as few texts as possible. */
function packed(origin: string, batch: readonly (readonly [string, Announced])[]): string[] {
  const texts: string[] = []
  let events: string[] = []
  let bytes = 0
  const close = () => texts.push(`["${origin}",[${events.join()}]]`)
  for (const [, event] of batch) {
    const text = JSON.stringify(event)
    const length = Buffer.byteLength(text) + 1
    if (bytes + length > mostBytes - 60) {
      if (events.length > 0) close()
      events = []
      bytes = 0
    }
    events.push(text)
    bytes += length
  }
  close()
  return texts
}

function read(text: string): { readonly origin: string; readonly events: readonly Announced[]; readonly beat?: number | undefined } | null {
  try {
    const [origin, events, beat] = JSON.parse(text) as [string, Announced[], number?]
    const whole = Array.isArray(events) && events.every(event => Array.isArray(event) && typeof event[0] === 'string' && typeof event[1] === 'object')
    return typeof origin === 'string' && whole ? { origin, events, beat } : null
  } catch {
    return null
  }
}
