import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../platform/clock.ts'
import type { State } from './state.ts'
import type { Endpoints } from './webhooks/endpoints.ts'

/** One request as a network receives it: the path has the network's prefix removed. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Stored body: all of it, unless the network stores less than it accepts. */
  readonly body: Buffer
  /** Number of bytes received, whether or not they are stored. */
  readonly size: number
  /** Name of the stand-in that forwarded the call; absent when the client called directly. */
  readonly via?: string
}

/** Size limit of a request body at a network, in bytes. */
export interface Takes {
  /** Size limit of a request body in bytes; a larger one is answered with 413. @default 64 KiB */
  readonly mostBytes?: number
  /**
   * Maximum number of body bytes that are stored; further bytes are counted and discarded. @default all accepted bytes
   */
  readonly mostKept?: number
}

/**
 * A body in pieces, with pauses where the network pauses; each piece is written separately. An exception cuts the
 * connection.
 * @param signal aborts when the client is gone: an endless generator must observe it
 */
export type Pieces = (signal: AbortSignal) => AsyncIterable<string | Uint8Array>

/** Outcome of a call. The control address for requests lists every outcome but `accepted`. */
export type Outcome = 'accepted' | 'granted' | 'read' | 'refused' | 'faulted'

/** An answer, with the way it is delivered. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | Pieces
  readonly outcome: Outcome
  /** The network's reason for the refusal, without secrets; shown by the control address for requests. */
  readonly reason?: string
  /** Who says that it calls, at neighbours that want to know; shown by the control address for requests. */
  readonly caller?: { readonly serviceId: string | null; readonly appId: string | null }
  /** Names of the call's headers, at neighbours that are asked for somebody; shown by the control address for requests. */
  readonly headerNames?: readonly string[]
  /** The app that answered, where a stand-in plays several. */
  readonly app?: string
  /** The armed fault that shaped this answer. */
  readonly fault?: FaultKind
  /** `hold` never answers; `reset` cuts the connection. @default the answer is sent */
  readonly delivery?: 'hold' | 'reset'
  /** Delay before the answer is sent, in ms. */
  readonly delayMs?: number
}

/** A picture or a film that a network has taken. */
export interface ReceivedMedium {
  readonly mimeType: string
  readonly bytes: number
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string
  /** Description of the picture's content; absent when the author wrote none. */
  readonly altText?: string
}

/** A post or comment that a network accepted and published. */
export interface ReceivedPost {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  /** Id that the network assigned to the post. */
  readonly id: string
  /** Text as displayed to readers. */
  readonly text: string
  readonly title?: string
  /** Link that the network displays beside the text; a link within the text appears only there. */
  readonly link?: string
  /** Keywords, on networks whose posts have them as a separate field. */
  readonly tags?: readonly string[]
  /** `public`, `unlisted` or `private`, on networks with this setting. */
  readonly privacyStatus?: string
  /** Place within the account where the post was published; absent: the account itself. */
  readonly target?: { readonly kind: 'page' | 'group' | 'organization'; readonly id: string }
  readonly media?: readonly ReceivedMedium[]
  readonly account: { readonly id: string; readonly username: string }
  readonly inReplyToId: string | null
  /** Time at which the author deleted the post; null while it exists. */
  readonly deletedAt: string | null
}

/** A stand-in whose state can be read and controlled under `/_control`. */
export interface Watched {
  readonly name: string
  /** Returns what the stand-in received, oldest first, in its own format. @param query query parameters of the call */
  received(query: URLSearchParams): readonly object[]
  /**
   * Controls beside faults, by the last part of their address: `tokens` answers `POST /_control/tokens` when `network`
   * names this stand-in.
   * @returns the answer, or a sentence that says what is wrong with the input
   */
  readonly controls?: Readonly<Record<string, Control>>
}

export type Control = (input: Readonly<Record<string, unknown>>) => object | string | Promise<object | string>

/** Faults that every network supports that sends full answers. */
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
 * The faults that can be armed, and which call uses each up. A network that does not support a fault leaves it armed.
 *
 * Networks of posts use up a fault by calls that create a post, vendors of models by POSTs, catalogues by reads.
 *
 * - `status`: a call that would create a post is refused with that HTTP status; nothing is published.
 * - `status-after-accept`: the post is published, then the call is answered with that HTTP status, as a proxy does
 * whose upstream failed.
 * - `timeout-after-accept`: the post is published, then the call is never answered.
 * - `accept-then-reset`: the post is published, then the connection is cut.
 * - `slow`: the post is published, and the whole answer is delayed by `delayMs`.
 * - `reset-mid-stream`: the call is accepted, and the connection is cut in the middle of the answer.
 * - `malformed`: the call is accepted, and answered with 200, the right content type and invalid JSON.
 * - `wrong-type`: the call is accepted, and answered with 200 and an HTML page.
 * - `endless`: the call is accepted, and its answer continues until the client disconnects.
 * - `expired-token`: a valid access token is refused as expired, on any authenticated call.
 * - `slow-renewal`: a refresh token is exchanged, and the answer is delayed by `delayMs`.
 * - `listing-lag`: the listing of an account's posts omits posts younger than `delayMs`.
 * - `media-status`: a call that uploads a picture or a film, or creates a container for one, is refused with that HTTP
 * status.
 * - `processing`: uploaded media are reported as in progress for `delayMs`.
 * - `processing-error`: uploaded media are reported as failed.
 * - `grant-revoked`: every token of the calling account becomes invalid, and its next renewal is refused permanently.
 * - `profile-status`: a call that reads the account's profile is refused with that HTTP status.
 * - `gone`: a call is answered with 410, as for a deleted resource.
 * - `hang`: a request for a widget is never answered.
 * - `large`: a widget is answered with 5 MB.
 * - `wrong-shape`: a widget is answered with JSON that is no widget.
 * - `redirect`: a widget is answered with a redirect to an address within a private network.
 * - `webhook-twice`: an event is sent twice.
 * - `webhook-late`: an event is sent after `delayMs`, so that later events overtake it.
 * - `webhook-lost`: an event is never sent.
 * - `webhook-bad-signature`: an event is signed with a wrong secret.
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
  'hang',
  'large',
  'wrong-shape',
  'redirect',
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
  /** User name of the account whose calls alone use up the fault. @default any account */
  readonly account?: string
  /** Prefix of the paths whose calls alone use up the fault, for stand-ins with several services. @default any path */
  readonly path?: string
  /** Number of calls that the fault still affects. */
  readonly times: number
  /** HTTP status of the answer, 400 to 599, for faults that answer with a status. */
  readonly status?: number
  /** Delay in ms, for `slow`, `slow-renewal`, `listing-lag`, `processing` and `webhook-late`. */
  readonly delayMs?: number
  /**
   * For `status` 429: seconds until the rate limit named in the answer's headers resets. @default 900 at X; vendors of
   * models send no time
   */
  readonly resetSeconds?: number
  /** For `status` 429 of vendors of models: reason code in the answer. @default the code for an exceeded rate */
  readonly code?: 'insufficient_quota'
}

/** The armed faults of all networks; they survive a restart. */
export interface Faults {
  /**
   * Arms a fault and replaces the fault armed for the same network, or for the same account or path of it; `none`
   * without account and path disarms the whole network.
   */
  arm(fault: ArmedFault): void
  armed(): readonly ArmedFault[]
  /**
   * Uses up one call of the armed fault if its kind is one of `kinds`: the fault of the account or the path first, else
   * that of the network.
   * @param account user name of the calling account
   * @param path    called path
   */
  take(network: string, kinds: readonly FaultKind[], account?: string, path?: string): ArmedFault | undefined
}

/** A stand-in for one third party that speaks HTTP, mounted under `/<name>`. */
export interface Network extends Watched {
  readonly takes?: Takes
  /** Answers a call. The server commits all changes to the state before the answer is sent. */
  answer(call: Call): Reply | Promise<Reply>
  /** Stops background work such as sending events. */
  stop?(): void
}

/** What a network gets from the sandbox: its state, clock, faults and addresses. */
export interface Deps {
  readonly state: State
  readonly faults: Faults
  readonly clock: Clock
  /** Returns the sandbox's own origin; available when calls arrive. */
  origin(): string
  /** Returns another network of this sandbox by its name, for stand-ins that forward calls. */
  other(name: string): Network | undefined
  /** Addresses to which webhooks are sent, with the signing secrets. */
  readonly endpoints: Endpoints
  /** Resolves when the endpoints listen. @default they listen already */
  readonly listening?: Promise<void>
  /** Redirect URIs of the demo application; they replace the registered list. @default the stored list */
  readonly redirectUris?: readonly string[]
}

/** What demo data and tests need: an application, and the account that can be connected to it. */
export interface Demo {
  readonly clientId: string
  readonly clientSecret: string
  readonly account: { readonly id: string; readonly username: string; readonly name: string }
  /**
   * Grants an application access to the demo account without a browser, with every scope that publishing requests.
   * @throws when no such application is registered
   */
  grant(clientId: string): Promise<{ accessToken: string; refreshToken: string; expiresIn: number; scope: string }>
}

/** The twin of a third party that wants no demo application: vendors of models, processors, catalogues. */
export interface Vendor {
  /** Name in sentences, e.g. `OpenAI`. */
  readonly title: string
  /** Creates the stand-in. */
  play(name: string, deps: Deps): Network
}

/** Stand-in for a social network: one value, in a folder of its own. */
export interface Twin {
  /** Name in sentences, e.g. `X`. */
  readonly title: string
  /** Addresses of the network, by names of platform settings, relative to the prefix assigned in `networks.ts`. */
  readonly addresses: Readonly<Record<string, string>>
  /** Further platform settings that an application of this network needs. */
  readonly settings?: Readonly<Record<string, string>>
  /** Creates the stand-in. */
  play(name: string, deps: Deps): Played
}

/** A twin at work. */
export interface Played {
  readonly network: Network
  readonly demo: Demo
  /**
   * Demo data of further networks of our own that this stand-in also serves, by their names in `networks.ts`, e.g.
   * `linkedin-page`.
   */
  readonly others?: Readonly<Record<string, Demo>>
}

/** A JSON answer. */
export function json(status: number, value: unknown, outcome: Outcome, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: JSON.stringify(value), outcome }
}

/** The body of a call as text. */
export const textOf = ({ body }: Pick<Call, 'body'>): string => body.toString('utf8')

/** Waits; resolves early when the client disconnects. */
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
