import { setImmediate as turn } from 'node:timers/promises'
import type { GraphQLFormattedError } from 'graphql'
import { createLatest } from './latest.ts'
import type { StreamMessage } from './message.ts'

/** Number of clients that receive an event before others get their turn of the event loop. */
const maxInTurn = 250

/** Receives the events of a stream. */
export interface Listener {
  /** Receives an event, or one payload of an event, at once, and limits itself what waits for its client to read. Never throws. */
  send(message: StreamMessage): void
  /** Ends the stream. Without errors it ended by itself. */
  end(errors: readonly GraphQLFormattedError[]): void
}

/** Counts what listeners receive. */
export interface AudienceFigures {
  /** Called after an event was delivered to a number of listeners. */
  delivered(listeners: number): void
  /** Called after a later subscriber received a number of earlier events. */
  deliveredAgain(events: number): void
}

/** The listeners of a stream, with what a new one receives first. */
export interface Audience {
  listeners(): Listener[]
  /** Delivers an event, or one payload of an event. */
  deliver(message: StreamMessage): Promise<void>
  /**
   * Adds a listener, who receives the latest event of each item. During an event of which payloads have been sent, it
   * receives that event as a whole at its end, where the stream keeps events; else it begins with the next one.
   */
  add(listener: Listener): void
  leave(listener: Listener): void
  /** Ends the event in progress for one listener that received payloads of it: the parts that are open fail by an error. */
  cut(error: GraphQLFormattedError, listener: Listener): void
  /** Ends the event in progress for all. */
  cutAll(error: GraphQLFormattedError): void
  clear(): void
}

/** An event of which payloads have been sent and others will be. */
interface InProgress {
  /** The payloads so far, where the stream keeps events. */
  readonly payloads: StreamMessage[]
  /** Those who receive its payloads, each with the latest one that it has received. */
  readonly reached: Map<Listener, StreamMessage>
  /** Those who came later. */
  readonly late: Set<Listener>
}

export function createAudience({ delivered, deliveredAgain }: AudienceFigures): Audience {
  const listeners = new Set<Listener>()
  const latest = createLatest()
  let event: InProgress | null = null

  /** Does something for each listener that is still present, with turns of the event loop between. */
  const each = async (present: readonly Listener[], work: (listener: Listener) => void) => {
    for (const [index, listener] of present.entries()) {
      if (index > 0 && index % maxInTurn === 0) await turn()
      if (listeners.has(listener)) work(listener)
    }
  }

  /** Delivers a payload to those who received the first one of its event. */
  async function deliverPart(message: StreamMessage): Promise<void> {
    const isFirst = event === null
    const current = event ?? { payloads: [], reached: new Map<Listener, StreamMessage>(), late: new Set<Listener>() }
    event = current
    const { payloads, reached, late } = current
    if (message.about !== null) payloads.push(message)
    const present = [...listeners]
    if (isFirst) delivered(present.length)
    await each(present, listener => {
      // It came during the event, or the event was cut for it.
      if (!isFirst && !reached.has(listener)) return
      reached.set(listener, message)
      listener.send(message)
    })
    if (message.cut) return
    event = null
    if (message.about === null) return
    latest.keep(message.about, payloads)
    await each([...late], listener => {
      for (const payload of payloads) listener.send(payload)
      deliveredAgain(1)
    })
  }

  return {
    listeners: () => [...listeners],
    async deliver(message) {
      if (message.isPart) return deliverPart(message)
      if (message.about !== null) latest.keep(message.about, [message])
      const present = [...listeners]
      delivered(present.length)
      await each(present, listener => listener.send(message))
    },
    add(listener) {
      const present = latest.all()
      for (const payloads of present) for (const message of payloads) listener.send(message)
      deliveredAgain(present.length)
      listeners.add(listener)
      event?.late.add(listener)
    },
    leave(listener) {
      listeners.delete(listener)
      event?.late.delete(listener)
      event?.reached.delete(listener)
    },
    cut(error, listener) {
      const last = event?.reached.get(listener)
      event?.reached.delete(listener)
      if (last?.cut) listener.send(last.cut(error))
    },
    cutAll(error) {
      const { reached = none } = event ?? {}
      event = null
      const endings = new Map<StreamMessage, StreamMessage>()
      for (const [listener, last] of reached) {
        const ending = endings.get(last) ?? last.cut?.(error)
        if (!ending) continue
        endings.set(last, ending)
        listener.send(ending)
      }
    },
    clear() {
      listeners.clear()
      latest.clear()
      event = null
    },
  }
}

const none: ReadonlyMap<Listener, StreamMessage> = new Map()
