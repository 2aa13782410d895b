import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'

/**
 * Transports texts from each process to every other one, at most once. It reconnects automatically until it is stopped.
 */
export interface Carrier {
  /** Connects and reconnects; never throws. Called once. */
  start(hears: Hears): void
  /** Sends texts of at most `mostBytes` each. Rejects when they may not have been sent. */
  send(texts: readonly string[]): Promise<void>
  /** Returns the present fault in a few words; null when there is none. */
  trouble(): string | null
  /** Ends the transport. Idempotent. */
  stop(): Promise<void>
}

export interface Hears {
  /** Receives a text of any process, this one included. */
  heard(text: string): void
  /** Called after connecting. @param again whether texts may have been missed meanwhile */
  connected(again: boolean): void
}

/** Maximum bytes of one text: a PostgreSQL notification has 7999 at most. */
export const mostBytes = 7_900

/** One connection. */
export interface Line {
  send(texts: readonly string[]): Promise<void>
  /** Resolves when the connection has ended. */
  readonly ended: Promise<unknown>
  close(): Promise<unknown>
}

export interface LineOptions {
  /** Name of the server: `PostgreSQL`. */
  readonly name: string
  /** Connects and subscribes. @throws when that fails */
  open(heard: (text: string) => void): Promise<Line>
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/**
 * Returns the pause in ms before a reconnection attempt (counted from 0): up to five seconds, with variation between
 * processes.
 */
export const pauseBefore = (attempt: number): number => (attempt === 0 ? 50 : Math.min(5_000, 250 * 2 ** Math.min(attempt, 5))) * (0.5 + Math.random())

/** Creates a transport from a way to connect: it holds one connection, and opens another when that ends. */
export function createCarrier({ name, open, log }: LineOptions): Carrier {
  const stopping = new AbortController()
  let line: Line | null = null
  let trouble: string | null = `${name} does not carry events yet`
  let running: Promise<void> | undefined

  const run = async (hears: Hears) => {
    let attempt = 0
    let missing = false
    while (!stopping.signal.aborted) {
      try {
        const opened = await open(hears.heard)
        if (!stopping.signal.aborted) {
          line = opened
          trouble = null
          if (missing) log.warn(`${name} transports events again: reading what was missed`)
          hears.connected(missing)
          attempt = 0
          await Promise.race([opened.ended, aborted(stopping.signal)])
        }
        line = null
        await opened.close().catch(() => {})
        if (!stopping.signal.aborted) log.warn(`${name} transports no events: screens may be up to a minute late until it does`)
      } catch (err) {
        if (attempt === 0) log.warn({ err }, `${name} cannot transport events: screens may be up to a minute late until it can`)
      }
      missing = true
      trouble = `${name} carries no events: screens may be a minute behind`
      await wait(pauseBefore(attempt++), undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  return {
    start(hears) {
      running ??= run(hears)
    },
    async send(texts) {
      if (!line) throw new Error(`${name} is not connected`)
      await line.send(texts)
    },
    trouble: () => trouble,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
