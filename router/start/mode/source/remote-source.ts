import type { StreamOutbound } from '../../../../platform/outbound/stream.ts'

/** A version of a supergraph, as its source gave it. */
export interface Version {
  readonly sdl: string
  /** By what the source knows this version; null when it does not say. */
  readonly tag: string | null
  /** The least ms until the source wants to be asked again. */
  readonly pauseMs?: number
}

/** The source still has the version that was named. */
export interface Unchanged {
  readonly sdl: null
  readonly pauseMs?: number
}

/** Somewhere on the network where a supergraph is published, under one address or several. */
export interface RemoteSource {
  /** Name in messages, without secrets. */
  readonly name: string
  /** What distinguishes it from other sources; may hold secrets. */
  readonly identity: string
  /** Number of addresses; where one fails the next is asked. */
  readonly addresses: number
  /** The least ms between two requests. */
  readonly leastMs: number
  /** Origins that may have a private address, because the operator named them. */
  readonly origins: readonly string[]
  /**
   * Asks one address.
   * @param tag of the version that is known from this address; null: none
   * @throws Error with one line, without secrets
   */
  ask(stream: StreamOutbound, address: number, tag: string | null): Promise<Version | Unchanged>
}
