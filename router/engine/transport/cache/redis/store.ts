import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { SharedDrops, SharedStore } from '../shared.ts'
import { type DropCause, type Fork, isDropCause, type Kept } from '../store.ts'
import { dropScript, keepScript, readScript } from './scripts.ts'
import { openSession, type Session, stateMs } from './session.ts'

/** Milliseconds of every command. */
const commandMs = 100
/** Maximum ms for which an entry is kept: less than the state lives. */
const mostEntryMs = 24 * 60 * 60 * 1000
/** Maximum keys of one command, labels that the store remembers, and labels that wait for the store. */
const most = { keys: 200, labels: 10_000, waiting: 1_000, keeping: 1_000 }

export interface RedisStoreOptions {
  /** Address: `redis://…` or `rediss://…`. */
  readonly url: string
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly drops: SharedDrops
  /** Milliseconds of the clock by which answers end. */
  now(): number
}

export interface RedisStore extends SharedStore {
  close(): Promise<void>
}

/**
 * Keeps answers in a server that speaks the Redis protocol, with a version of each dropped label (see `scripts.ts`).
 * Connects by itself, again and again; until it has, and while drops of other routers may be missed, nothing of the
 * cache is used.
 */
export function openRedisStore({ url, log, drops, now }: RedisStoreOptions): RedisStore {
  const id = randomUUID()
  const stopping = new AbortController()
  let session: Session | null = null
  /** Drops that wait for the store, and those that it has not confirmed yet. */
  let [waiting, sent]: [Drops | null, Drops | null] = [null, null]
  let flushing: Promise<void> | null = null
  let [errors, keeping] = [0, 0]
  const isUnconfirmed = () => waiting !== null || sent !== null
  const running = run()

  return {
    isCurrent: () => session !== null && !isUnconfirmed() && session.isCurrent(),
    begin() {
      return session && !isUnconfirmed() && session.isCurrent() ? { epoch: session.epoch, drop: session.seen() } : null
    },
    async read(keys) {
      const found: (Kept | Fork | undefined)[] = []
      for (let at = 0; at < keys.length; at += most.keys) {
        const some = keys.slice(at, at + most.keys)
        found.push(...(await readSome(some)))
      }
      return found
    },
    keep(key, value, began) {
      const present = session
      const ms = Math.floor(Math.min(value.until - now(), mostEntryMs))
      if (!present?.isCurrent() || present.epoch !== began.epoch || isUnconfirmed() || ms <= 0 || value.labels.length === 0 || keeping >= most.keeping) return
      keeping += 1
      const written = [present.epoch, String(began.drop), value.labels.map(label => JSON.stringify(label)).join('\n'), write(value), String(ms)]
      present
        .run(keepScript, [present.stateKey, present.entryKey(hashOf(key))], written)
        .catch(() => {})
        .finally(() => (keeping -= 1))
    },
    async drop(labels, cause) {
      if (labels?.length === 0) return
      waiting = joined(waiting, { cause, labels: labels && new Set(labels) })
      await flush()
    },
    get errors() {
      return errors
    },
    async close() {
      stopping.abort()
      session?.end('the router stops')
      await running
    },
  }

  async function readSome(keys: readonly string[]): Promise<(Kept | Fork | undefined)[]> {
    const present = session
    if (!present?.isCurrent()) return keys.map(() => undefined)
    try {
      const answer = await present.run(readScript, [present.stateKey, ...keys.map(key => present.entryKey(hashOf(key)))], [present.epoch])
      return Array.isArray(answer) ? answer.map(each => (Array.isArray(each) ? read(each as [string, string, number], now()) : undefined)) : []
    } catch {
      return keys.map(() => undefined)
    }
  }

  /** Sends waiting drops, those that are added meanwhile included. Resolves after the limit of a command at the latest. */
  function flush(): Promise<void> {
    flushing ??= (async () => {
      while (session && waiting) {
        const { stateKey, epoch, channel } = session
        ;[sent, waiting] = [waiting, null]
        const labels = [...(sent.labels ?? [])].map(label => JSON.stringify(label))
        const values = [epoch, channel, id, sent.cause, String(most.labels), String(stateMs), ...labels]
        try {
          if ((await session.run(dropScript, [stateKey], values)) === 0) throw new Error('its state was lost')
        } catch {
          waiting = joined(sent, waiting)
          return
        } finally {
          sent = null
        }
      }
    })().finally(() => (flushing = null))
    return flushing
  }

  async function run(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      let reason: string
      try {
        const opened = await openSession({
          url,
          id,
          commandMs,
          failed: () => (errors += 1),
          heard({ from, labels, cause }) {
            if (labels === null) drops.missed()
            else if (from !== id) drops.dropped(labels, isDropCause(cause) ? cause : 'missed')
          },
        })
        // What others have dropped meanwhile is not known.
        drops.missed()
        session = opened
        if (attempt > 0) log.warn('the store of the response cache answers again')
        attempt = 0
        const retrying = setInterval(() => void (waiting && flush()), retryMs).unref()
        void flush()
        reason = await opened.ended
        clearInterval(retrying)
        session = null
        opened.close()
      } catch (error) {
        reason = (error as Error).message
      }
      if (stopping.signal.aborted) return
      errors += 1
      if (attempt === 0) log.warn({ reason }, 'the store of the response cache does not answer: nothing is kept until it does')
      await pauseBefore(attempt, stopping.signal)
    }
  }
}

/** What is to be dropped; everything without labels. */
interface Drops {
  readonly cause: DropCause
  readonly labels: ReadonlySet<string> | null
}

function joined(one: Drops | null, other: Drops | null): Drops | null {
  if (!one || !other) return one ?? other
  const labels = one.labels && other.labels ? one.labels.union(other.labels) : null
  return { cause: other.cause, labels: labels && labels.size <= most.waiting ? labels : null }
}

/** Milliseconds between two tries of drops that the store has not confirmed. */
const retryMs = 300

/** Keys hold headers of clients, which are nobody's business. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64url')

/** Writes an answer: its form, and the text. */
const write = (value: Kept | Fork): string =>
  'text' in value ? `${value.isPrivate ? 'p' : 't'}${value.text}` : `f${JSON.stringify({ isPrivate: value.isPrivate, vary: value.vary })}`

function read([written, labels, ms]: readonly [value: string, labels: string, ms: number], now: number): Kept | Fork | undefined {
  if (!(ms > 0)) return undefined
  const rest = { until: now + ms, labels: labels.split('\n').map(label => JSON.parse(label) as string) }
  const text = written.slice(1)
  if (written[0] === 'f') return { ...(JSON.parse(text) as Pick<Fork, 'isPrivate' | 'vary'>), ...rest }
  return { text, isPrivate: written[0] === 'p', ...rest }
}

/** Waits before a connection is tried again: up to two seconds, with variation between routers. */
function pauseBefore(attempt: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(2_000, 100 * 2 ** Math.min(attempt, 5)) * (0.5 + Math.random())
  return wait(ms, undefined, { signal, ref: false }).catch(() => {})
}
