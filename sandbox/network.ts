import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../platform/clock.ts'
import type { FaultKind, Faults } from './faults.ts'
import type { State } from './state.ts'

/** One request as a network sees it: the path has lost the network's prefix. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The body as text, at most 64 KiB. */
  readonly body: string
}

/** What became of a call. Everything but `accepted` is listed by the control address for requests. */
export type Outcome = 'accepted' | 'granted' | 'read' | 'refused' | 'faulted'

/** An answer, and how it travels. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly outcome: Outcome
  /** Why the network refused, in words without secrets; shown by the control address for requests. */
  readonly reason?: string
  /** The armed fault that shaped this answer. */
  readonly fault?: FaultKind
  /** `hold` never answers; `reset` cuts the connection. Absent, the answer is sent. */
  readonly delivery?: 'hold' | 'reset'
  /** Milliseconds before the answer is sent. */
  readonly delayMs?: number
}

/** A post that a network accepted and published. */
export interface ReceivedPost {
  /** ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly id: string
  /** The text exactly as the client sent it. */
  readonly text: string
  readonly account: { readonly id: string; readonly username: string }
  readonly inReplyToId: string | null
  /** When its author removed it; null while it stands. */
  readonly deletedAt: string | null
}

/** A stand-in for one social network, mounted under `/<name>`. */
export interface Network {
  readonly name: string
  /** Answers a call. Whatever it changes is committed by the server before the answer leaves. */
  answer(call: Call): Reply
  /** What was published here, oldest first. */
  received(): readonly ReceivedPost[]
}

/** What a network keeps, and what it stands on. */
export interface Deps {
  readonly state: State
  readonly faults: Faults
  readonly clock: Clock
  /** Where the demo application may be sent back to; replaces the list it was registered with. @default the stored list */
  readonly redirectUris?: readonly string[]
}

/** What demo data and tests need to know: an application and the account that it may be connected to. */
export interface Demo {
  readonly clientId: string
  readonly clientSecret: string
  readonly account: { readonly id: string; readonly username: string; readonly name: string }
  /**
   * Gives an application a permission of the demo account without a browser: every scope that publishing asks for.
   * @throws when no such application is registered
   */
  grant(clientId: string): Promise<{ accessToken: string; refreshToken: string; expiresIn: number; scope: string }>
}

/** A network's twin: one value, in a folder of its own. */
export interface Twin {
  /** In sentences: `X`. */
  readonly title: string
  /** Where it is found, by the names of a platform's settings, under the prefix that the list gives it. */
  readonly addresses: Readonly<Record<string, string>>
  /** Plays it. */
  play(name: string, deps: Deps): { readonly network: Network; readonly demo: Demo }
}

/** A JSON answer. */
export function json(status: number, value: unknown, outcome: Outcome, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: JSON.stringify(value), outcome }
}
