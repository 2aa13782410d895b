import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../platform/clock.ts'
import type { State } from './state.ts'
import type { Endpoints } from './webhooks/endpoints.ts'

/** One request as a network sees it: the path has lost the network's prefix. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** What is kept of the body: all of it, unless the network keeps less than it takes. */
  readonly body: Buffer
  /** Bytes that came, kept or not. */
  readonly size: number
  /** The stand-in that passed the call on; absent: it came by itself. */
  readonly via?: string
}

/** What a network takes of a body, in bytes. */
export interface Takes {
  /** More than that is answered with 413. @default 64 KiB */
  readonly mostBytes?: number
  /** The rest is counted and let go. @default all that it takes */
  readonly mostKept?: number
}

/**
 * A body in pieces, with pauses where the network makes some; each piece is written by itself. Whoever throws cuts the connection.
 * @param signal aborts when nobody listens any more: an endless one has to heed it
 */
export type Pieces = (signal: AbortSignal) => AsyncIterable<string | Uint8Array>

/** What became of a call. Everything but `accepted` is listed by the control address for requests. */
export type Outcome = 'accepted' | 'granted' | 'read' | 'refused' | 'faulted'

/** An answer, and how it travels. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | Pieces
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

/** A picture or a film that a network has taken. */
export interface ReceivedMedium {
  readonly mimeType: string
  readonly bytes: number
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string
  /** What it shows, in words; absent where nobody wrote any. */
  readonly altText?: string
}

/** A post or comment that a network accepted and published. */
export interface ReceivedPost {
  /** ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  /** What the network answered. */
  readonly id: string
  /** The text as a reader sees it. */
  readonly text: string
  readonly title?: string
  /** An address that the network shows beside the text; one within the text stands there alone. */
  readonly link?: string
  /** Keywords, where posts have them beside their text. */
  readonly tags?: readonly string[]
  /** `public`, `unlisted` or `private`, where posts have that. */
  readonly privacyStatus?: string
  /** Where within the account it stands; absent: the account itself. */
  readonly target?: { readonly kind: 'page' | 'group' | 'organization'; readonly id: string }
  readonly media?: readonly ReceivedMedium[]
  readonly account: { readonly id: string; readonly username: string }
  readonly inReplyToId: string | null
  /** When its author removed it; null while it stands. */
  readonly deletedAt: string | null
}

/** What can be looked into and told something under `/_control`. */
export interface Watched {
  readonly name: string
  /** What it took, the oldest first, each in the words of its kind. @param query of the call that asks */
  received(query: URLSearchParams): readonly object[]
  /**
   * What it can be told beside faults, by the last part of the address: `tokens` answers `POST /_control/tokens` with `network` naming it.
   * @returns what is answered, or a sentence that says what is wrong with the input
   */
  readonly controls?: Readonly<Record<string, Control>>
}

export type Control = (input: Readonly<Record<string, unknown>>) => object | string | Promise<object | string>

/** Faults that every network that answers calls in full can show. */
export const spoils = [
  'status',
  'status-after-accept',
  'timeout-after-accept',
  'accept-then-reset',
  'slow',
  'reset-mid-stream',
  'malformed',
  'wrong-type',
  'endless',
] as const

/**
 * The faults that can be armed, and when each is spent. A network that cannot show one leaves it armed.
 *
 * A network of posts spends them by calls that create one, vendors of models by POSTs, catalogues by reads.
 *
 * - `status`: a call that would create a post is refused with that HTTP status; nothing is published.
 * - `status-after-accept`: the post is published, then the call is answered with that HTTP status, as a front does that lost its server.
 * - `timeout-after-accept`: the post is published, then the call is never answered.
 * - `accept-then-reset`: the post is published, then the connection is cut.
 * - `slow`: the post is published, then answered after `delayMs`: no byte comes before.
 * - `reset-mid-stream`: the call is taken, and the connection cut in the middle of the answer.
 * - `malformed`: the call is taken, and answered with 200, the right type, and what is not JSON.
 * - `wrong-type`: the call is taken, and answered with 200 and a page.
 * - `endless`: the call is taken, and its answer goes on for as long as somebody listens.
 * - `expired-token`: a good access token is answered as an expired one, on any authenticated call.
 * - `slow-renewal`: a refresh token is exchanged, then answered after `delayMs`.
 * - `listing-lag`: the listing of an account's posts leaves out those younger than `delayMs`.
 * - `media-status`: a call that uploads a picture or a film, or makes a container of one, is refused with that HTTP status.
 * - `processing`: what was uploaded is told as in progress for `delayMs`.
 * - `processing-error`: what was uploaded is told as not to be had.
 * - `grant-revoked`: every token of the account that calls is good no more, and its next renewal is refused for good.
 * - `profile-status`: a call that asks whose account it is is refused with that HTTP status.
 * - `gone`: a call is answered as one for what is there no more, with 410.
 * - `webhook-twice`: an event is sent twice.
 * - `webhook-late`: an event is sent after `delayMs`; the ones that follow overtake it.
 * - `webhook-lost`: an event is never sent.
 * - `webhook-bad-signature`: an event is signed with another secret.
 * - `none`: disarms.
 */
export const faultKinds = [
  'none',
  ...spoils,
  'expired-token',
  'slow-renewal',
  'listing-lag',
  'media-status',
  'processing',
  'processing-error',
  'grant-revoked',
  'profile-status',
  'gone',
  'webhook-twice',
  'webhook-late',
  'webhook-lost',
  'webhook-bad-signature',
] as const

export type FaultKind = (typeof faultKinds)[number]

/** A fault armed for one network. */
export interface ArmedFault {
  readonly network: string
  readonly fault: FaultKind
  /** User name of the only account whose calls spend it. @default whoever calls */
  readonly account?: string
  /** Beginning of the only paths whose calls spend it, where a twin has several services. @default any path */
  readonly path?: string
  /** How many calls it still spoils. */
  readonly times: number
  /** HTTP status of a fault that answers with one, 400 to 599. */
  readonly status?: number
  /** Milliseconds, for `slow`, `slow-renewal`, `listing-lag`, `processing` and `webhook-late`. */
  readonly delayMs?: number
  /** For `status` 429: seconds until the limit named in the answer's headers opens again. @default 900 at X; vendors name no time */
  readonly resetSeconds?: number
  /** For `status` 429 of vendors of models: what they give as its reason in place of a rate that was passed. */
  readonly code?: 'insufficient_quota'
}

/** The armed faults of all networks; they survive a restart. */
export interface Faults {
  /** Arms a fault in place of what was armed for its network, or for its account or path there; `none` without either disarms the whole network. */
  arm(fault: ArmedFault): void
  armed(): readonly ArmedFault[]
  /**
   * Spends one use of the account's or the path's fault, or else of the network's, if it is of one of these kinds.
   * @param account user name of who calls
   * @param path    what is called
   */
  take(network: string, kinds: readonly FaultKind[], account?: string, path?: string): ArmedFault | undefined
}

/** A stand-in for one third party that speaks HTTP, mounted under `/<name>`. */
export interface Network extends Watched {
  readonly takes?: Takes
  /** Answers a call. Whatever it changes is committed by the server before the answer leaves. */
  answer(call: Call): Reply | Promise<Reply>
  /** Ends what it does by itself, such as sending events. */
  stop?(): void
}

/** What a network keeps, and what it stands on. */
export interface Deps {
  readonly state: State
  readonly faults: Faults
  readonly clock: Clock
  /** Where all of this stands; known when calls come. */
  origin(): string
  /** Another one that is played here, for who passes calls on. */
  other(name: string): Network | undefined
  /** Where webhooks go, and what they are signed with. */
  readonly endpoints: Endpoints
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

/** The twin of a third party that wants no demo application: vendors of models, processors, catalogues. */
export interface Vendor {
  /** In sentences: `OpenAI`. */
  readonly title: string
  /** Plays it. */
  play(name: string, deps: Deps): Network
}

/** The twin of a social network: one value, in a folder of its own. */
export interface Twin {
  /** In sentences: `X`. */
  readonly title: string
  /** Where it is found, by the names of a platform's settings, under the prefix that the list gives it. */
  readonly addresses: Readonly<Record<string, string>>
  /** What else an application of it is told, by the names of a platform's settings. */
  readonly settings?: Readonly<Record<string, string>>
  /** Plays it. */
  play(name: string, deps: Deps): Played
}

/** A twin at work. */
export interface Played {
  readonly network: Network
  readonly demo: Demo
  /** Of further networks of ours that it stands for, by the names under which `networks.ts` lists them: `linkedin-page`. */
  readonly others?: Readonly<Record<string, Demo>>
}

/** A JSON answer. */
export function json(status: number, value: unknown, outcome: Outcome, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: JSON.stringify(value), outcome }
}

/** The body of a call as text. */
export const textOf = ({ body }: Pick<Call, 'body'>): string => body.toString('utf8')

/** Waits; an end of the listening ends it too. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
