import type { IncomingHttpHeaders } from 'node:http'
import type { FaultKind } from './faults.ts'

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

/** A JSON answer. */
export function json(status: number, value: unknown, outcome: Outcome, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: JSON.stringify(value), outcome }
}
