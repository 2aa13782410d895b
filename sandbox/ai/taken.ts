import { randomBytes } from 'node:crypto'
import type { Call, Deps } from '../network.ts'
import type { Collection } from '../state.ts'
import { openCaches } from './caches.ts'

/** A call that a vendor of models took. */
export interface TakenCall {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly id: string
  readonly path: string
  readonly model: string
  /** The user's last message, the prompt, or the file's name; at most its first 10,000 characters. */
  readonly text: string
  readonly stream: boolean
  /** Last four characters of the key that the call carried. */
  readonly keyHint: string
  readonly via: string
}

/** What the stand-ins of model vendors share. */
export interface Stall {
  readonly name: string
  readonly deps: Deps
  readonly calls: Collection<TakenCall>
  readonly caches: ReturnType<typeof openCaches>
  /** Records a call that is answered with 200. */
  note(call: Call, key: string, taken: Pick<TakenCall, 'id' | 'model' | 'text' | 'stream'>): void
}

export function openStall(name: string, deps: Deps): Stall {
  const calls = deps.state.collection<TakenCall>(`${name}.received`, 5_000)
  return {
    name,
    deps,
    calls,
    caches: openCaches(name, deps),
    note({ path, via = 'direct' }, key, { id, model, text, stream }) {
      const receivedAt = deps.clock.now().toISOString()
      calls.set(id, { receivedAt, id, path, model, text: text.slice(0, 10_000), stream, keyHint: key.slice(-4), via })
    },
  }
}

/** Whether a stand-in vendor accepts a key; only the sandbox issues keys with this prefix. */
export const isGoodKey = (key: string): boolean => key.startsWith('sk-sandbox-')

export const newId = (prefix: string): string => `${prefix}${randomBytes(15).toString('base64url')}`

export type Body = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a list of objects; null for any other value. */
export const objectsIn = (value: unknown): readonly Body[] | null => (Array.isArray(value) && value.every(isObject) ? value : null)

/** Returns one event of a stream, in server-sent event format. */
export const eventOf = (value: unknown, name?: string): string => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`
