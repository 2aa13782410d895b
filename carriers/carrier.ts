import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'

/** What takes texts from each process to every other one, at most once. It reconnects by itself for as long as it is not stopped. */
export interface Carrier {
  /** Connects, and again whenever it has to; never throws. Called once. */
  start(hears: Hears): void
  /** Sends texts of at most `mostBytes` each. Rejects when they may not have gone out. */
  send(texts: readonly string[]): Promise<void>
  /** Why nothing passes at the moment, in a few words; null when all is well. */
  trouble(): string | null
  /** Ends it; safe to call twice. */
  stop(): Promise<void>
}

export interface Hears {
  /** Takes a text of any process, this one included. */
  heard(text: string): void
  /** Called when it is connected. @param again whether something may have been missed meanwhile */
  connected(again: boolean): void
}

/** Bytes of one text: a notification of PostgreSQL has 7999 at most. */
export const mostBytes = 7_900

/** One connection, for as long as it lasts. */
export interface Line {
  send(texts: readonly string[]): Promise<void>
  /** Resolves when it is no connection any more. */
  readonly ended: Promise<unknown>
  close(): Promise<unknown>
}

export interface LineOptions {
  /** Whose connection it is: `PostgreSQL`. */
  readonly name: string
  /** Connects, and listens when it resolves. @throws when that cannot be */
  open(heard: (text: string) => void): Promise<Line>
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/** Milliseconds before the attempt of that number (from 0) to connect again: five seconds in the end, and never all processes together. */
export const pauseBefore = (attempt: number): number => (attempt === 0 ? 50 : Math.min(5_000, 250 * 2 ** Math.min(attempt, 5))) * (0.5 + Math.random())

/** Makes a carrier of a way to connect: it holds one connection, and opens another whenever that ends. */
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
