import { randomBytes } from 'node:crypto'
import type { Call, Deps } from '../network.ts'
import type { Collection } from '../state.ts'
import { openCaches } from './caches.ts'

/** A call that a vendor of models took. */
export interface TakenCall {
  /** ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly id: string
  readonly path: string
  readonly model: string
  /** The last message of the person, the prompt, or the name of the file; at most its first 10,000 characters. */
  readonly text: string
  readonly stream: boolean
  /** The last four characters of the key that it came with. */
  readonly keyHint: string
  readonly via: string
}

/** What a vendor of models stands on. */
export interface Stall {
  readonly name: string
  readonly deps: Deps
  readonly calls: Collection<TakenCall>
  readonly caches: ReturnType<typeof openCaches>
  /** Remembers a call that is answered with 200. */
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

/** Whether a vendor takes a key; nobody else has such ones. */
export const isGoodKey = (key: string): boolean => key.startsWith('sk-sandbox-')

export const newId = (prefix: string): string => `${prefix}${randomBytes(15).toString('base64url')}`

export type Body = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A list of objects; null for anything else. */
export const objectsIn = (value: unknown): readonly Body[] | null => (Array.isArray(value) && value.every(isObject) ? value : null)

/** One event of a stream. */
export const eventOf = (value: unknown, name?: string): string => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`
