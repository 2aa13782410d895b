import { expect } from 'vitest'
import type { RestWorld, Who } from '../world.ts'

/** One route as a caller meets it. */
export interface Exchange {
  readonly path: (id: string) => string
  readonly body?: () => object
  /** Makes what the path names; without it, the path names nothing of anybody's. */
  readonly make?: () => Promise<string>
  /** Who is known and may not; null: whoever is known may. */
  readonly forbidden: Who | null
  /** Who asks when all is well: others than `super`, `service`, `publishing` and `agents` ask for what is an organization's. @default owner */
  readonly by?: 'super' | 'alone' | 'service' | 'publishing' | 'agents' | 'launcher' | 'settlement'
  /** What is sent besides. */
  readonly headers?: () => Record<string, string>
  /** What it answers when all is well. */
  readonly answers: (id: string) => object
  /** How often it works on the same thing. */
  readonly once?: true
}

/** A subgraph's routes by method and path, as the tables have them. The world is there when the first is asked. */
export type Exchanges = (world: () => RestWorld) => Readonly<Record<string, Exchange>>

/** A list under its name. */
export const list = (name: string) => () => ({ status: 200, json: { [name]: expect.any(Array), totalCount: expect.any(Number) } })

/** A record that was made. @param path of the list that it is in */
export const made = (path: string) => () => ({ status: 201, headers: { etag: '"1"', location: expect.stringMatching(new RegExp(`^${path}/[\\w-]{36}$`)) } })
