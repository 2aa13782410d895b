import type { Outbound } from '../../../platform/outbound/outbound.ts'

/** What publishing needs of a social network. `networks.ts` lists them; a folder beside this file is one of them. */
export type Platform = 'X' | 'LINKEDIN' | 'LINKEDIN_PAGE' | 'FACEBOOK' | 'INSTAGRAM' | 'THREADS' | 'YOUTUBE' | 'TIKTOK'

export type TargetKind = 'PAGE' | 'GROUP' | 'ORGANIZATION' | 'PHOTO_ACCOUNT' | 'THREAD_ACCOUNT'

/** What the platform knows of a network, whether or not it speaks its protocol: one value, in the network's own folder where it does. */
export interface NetworkFacts {
  readonly title: string
  /** The segment of REST paths, `/api/integrations/<path>/connect`, and the name of its twin in the sandbox. */
  readonly path: string
  /** The kinds of places that a post for this network may name. */
  readonly targets: readonly TargetKind[]
  /** How it is spoken to; null: not at all yet. */
  readonly protocol: Protocol | null
}

/** How a network is spoken to, by an application that an operator registers there. */
export interface Protocol<Name extends string = string> {
  /** What its settings begin with: `X` for `X_CLIENT_ID`, `X_CLIENT_SECRET` and the addresses, `X_API_URL` for `apiUrl`. */
  readonly prefix: string
  /** Where the network is, by the name under which its adapter is told. */
  readonly addresses: { readonly [Key in Name]: { readonly fallback: string; readonly does: string } }
  /** Loads the adapter, which only processes with this subgraph need. */
  load(): Promise<Adapter<Name>>
}

export interface Adapter<Name extends string = string> {
  /** The network's protocol at the addresses of an application. */
  open(application: Application<Name>, outbound: Outbound): Network
}

/** An application of ours at a network, and where that network, or a stand-in, is found. */
export type Application<Name extends string = string> = { readonly clientId: string; readonly clientSecret: string } & { readonly [Key in Name]: string }

/** Where an application finds its network. */
export const addressesOf = ({ clientId: _id, clientSecret: _secret, ...addresses }: Application): readonly string[] => Object.values(addresses)

/** Tokens as a network granted them. */
export interface Grant {
  readonly accessToken: string
  /** Null when the network gave none: a stored one is kept then. */
  readonly refreshToken: string | null
  /** Lifetime of the access token in seconds; null when the network does not say. */
  readonly expiresIn: number | null
  readonly scopes: readonly string[]
}

/** The account behind a grant. */
export interface Account {
  /** The network's id of the account, never reused by it. */
  readonly externalId: string
  /** What people call it, e.g. `@demo`. */
  readonly name: string
}

/** A place within an account of a network, as the client named it. */
export interface Target {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string | null
}

/** A picture or a film, in the form in which the network takes it. */
export interface Medium {
  readonly kind: 'IMAGE' | 'GIF' | 'VIDEO'
  readonly mimeType: string
  readonly bytes: number
  /** What it shows, for people who cannot see it. */
  readonly altText: string | null
  /** Its bytes, from the first one at each call. */
  open(): Promise<ReadableStream<Uint8Array>>
}

/** What a network is asked to publish. */
export interface Publication {
  readonly accessToken: string
  readonly account: Account
  readonly copy: string
  /** Where within the account; null: the account itself. */
  readonly target: Target | null
  /** In the order in which they are shown. */
  readonly media: readonly Medium[]
  /** The network's id of the post that this one answers; null when it stands alone. */
  readonly inReplyTo: string | null
}

/** How the one call that cannot be taken back ended. */
export type Delivery =
  | { readonly outcome: 'delivered'; readonly platformPostId: string; readonly permalink: string }
  /** The network answered no: nothing was published. */
  | { readonly outcome: 'refused'; readonly code: RefusalReason; readonly detail: string }
  /** No answer that tells: it may have been published. `refusal`: what the network said of this call, which leaves open what earlier ones did. */
  | { readonly outcome: 'unknown'; readonly detail: string; readonly refusal?: RefusalReason }
  /** The call surely never reached the network. */
  | Unsent

export interface Unsent {
  readonly outcome: 'unsent'
  readonly detail: string
}

export type RefusalReason = 'ACCESS_EXPIRED' | 'DUPLICATE_CONTENT' | 'RATE_LIMITED' | 'CONTENT_REFUSED' | 'NETWORK_REFUSED'

/** What a network says of its own account when it is asked whether it has a publication. */
export type Lookup =
  | { readonly found: true; readonly platformPostId: string; readonly permalink: string }
  /** The network lists everything since the attempt began, and it is not there. `isAnothers`: the text is, as a post that was left out. */
  | { readonly found: false; readonly isAnothers: boolean }

/** Thrown when a grant cannot be had or renewed. `permanent`: only a person who authorizes again can help. */
export class GrantFailure extends Error {
  readonly permanent: boolean
  constructor(message: string, permanent: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'GrantFailure'
    this.permanent = permanent
  }
}

/** Thrown by a look-up whose access token the network does not take: with a renewed one it may be asked again. */
export class AccessExpired extends Error {
  constructor(network: string) {
    super(`${network} does not take the access token any more`)
    this.name = 'AccessExpired'
  }
}

/** One network's protocol. Adapters never know whether they speak to the network or to a stand-in. */
export interface Network {
  readonly platform: Platform
  /**
   * Whether the network refuses a text that the account has posted a moment ago. Where it does, an interrupted call may be made
   * again as soon as the network does not list the post: the network itself keeps it from being published twice.
   */
  readonly refusesDuplicates: boolean
  /** Why the network would not take this text, in a sentence; null when it would. */
  objection(copy: string): string | null
  /** Where people see a post; null when this is not an id of the network. */
  permalink(accountName: string, platformPostId: string): string | null
  /** The address of the consent page, and what must be kept until the person returns. */
  authorize(request: { redirectUri: string; state: string }): Promise<{ url: string; verifier: string }>
  /** Exchanges the callback's parameters for a grant (RFC 6749 §4.1.3). Throws GrantFailure. */
  exchange(callback: { parameters: URLSearchParams; redirectUri: string; state: string; verifier: string }): Promise<Grant>
  /** Renews a grant; the old refresh token may be dead afterwards, so keep the new one before using it. Throws GrantFailure. */
  refresh(refreshToken: string): Promise<Grant>
  /** Whose account a grant is for. Throws GrantFailure. */
  account(accessToken: string): Promise<Account>
  /** Makes the one call that cannot be taken back. Never throws, never repeats the call. */
  publish(publication: Publication): Promise<Delivery>
  /** Looks for a publication among the account's own posts since `since`, leaving out ids that belong to other posts. Throws AccessExpired, and any other error when it cannot tell. */
  find(publication: Publication, since: Date, except: ReadonlySet<string>): Promise<Lookup>
}

export type Networks = ReadonlyMap<Platform, Network>
