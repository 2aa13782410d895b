import type { CallOptions } from '../../../platform/ask.ts'
import type { OutboundAnswer, WayOut } from '../../../platform/outbound/outbound.ts'

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
  readonly capabilities: Capabilities
  readonly content: ContentRules
  /** How it is spoken to; null: not at all yet. */
  readonly protocol: Protocol | null
}

/** What the platform does on a network. */
export interface Capabilities {
  readonly firstComment: boolean
  readonly analytics: boolean
  /** What a later post of a thread is: a reply, a comment (text alone) under the first post, or a post of its own. */
  readonly thread: 'REPLY' | 'COMMENT' | 'SEPARATE'
  /** How it is found out whether the network has a post: by what preparing left there, by the account's own list, or by nobody but a person. */
  readonly lookup: 'BY_ID' | 'BY_LISTING' | 'NONE'
}

/** What a network takes. `check.ts` holds a post to it. */
export interface ContentRules {
  /** How much text it takes, in its own measure. */
  readonly copy: number
  /** How much text a comment takes, in the same measure. @default as much as a post */
  readonly comment?: number
  /** The length of a text as the network counts it. */
  measure(copy: string): number
  /** Why the network would not take a text of any length, in a sentence; null when it would. */
  objection?(copy: string): string | null
  /** Why the network would not take these links, those of the text among them, in a sentence; null when it would. @default it takes any */
  objectionToLinks?(copy: string, link: string | null): string | null
  /** Why the network would not take a post's tags, in a sentence; null when it would. @default it is not sent them */
  objectionToTags?(tags: readonly string[]): string | null
  /** Whether the network refuses a text that the account has just posted, also as a comment. @default it does not */
  readonly refusesRepetition?: true
  /** In code points; null where a post has no title. */
  readonly title: { readonly most: number; readonly needed: boolean; objection?(title: string): string | null } | null
  /** Where a link goes for which the network has no place of its own: always in the text, or only where media leave no other. @default never in the text */
  readonly link?: 'TEXT' | 'TEXT_BESIDE_MEDIA'
  readonly media: MediaRules
  /** What its posts are visible to when nobody says; null where the network is not asked. */
  readonly visibility: 'PRIVATE' | null
}

/** What a network takes of pictures, GIFs and films. The check holds posts to it, and so do the tests of the networks' stand-ins. */
export interface MediaRules {
  /** Where the network says so, and on which day that was read. */
  readonly source: { readonly url: string; readonly read: string }
  /** How many a post has at least. */
  readonly least: number
  readonly images: number
  readonly gifs: number
  readonly videos: number
  /** Of all kinds together. */
  readonly most: number
  /** Whether pictures and films go together. */
  readonly mixed: boolean
  /** In bytes; GIFs are sent as they are, other pictures are written anew (`media/variant/form.ts`). @default any that the library takes */
  readonly gifBytes?: number
  /** Null where no film is taken. */
  readonly film: FilmRules | null
}

/** What a network takes of a film. What the library does not know of one is not looked at. */
export interface FilmRules {
  /** Whether it takes QuickTime beside MP4. */
  readonly quicktime: boolean
  /** The smallest and the largest file. The library holds 1 GiB at most, so a larger limit is not written down. */
  readonly bytes: readonly [least: number, most: number | null]
  readonly seconds: readonly [least: number, most: number]
  /** As files name them; null: any. */
  readonly codecs: readonly string[] | null
  readonly sound: readonly string[] | null
  /** Width by height. */
  readonly ratio: readonly [least: number, most: number] | null
  /** Of each side, in pixels. */
  readonly sides: readonly [least: number, most: number] | null
  /** In pixels. */
  readonly width: number | null
}

/** How a network is spoken to, by an application that an operator registers there. */
export interface Protocol<Name extends string = string, Further extends string = string extends Name ? string : never> {
  /** What its settings begin with: `X` for `X_CLIENT_ID`, `X_CLIENT_SECRET` and the addresses, `X_API_URL` for `apiUrl`. */
  readonly prefix: string
  /** What an operator asks the network for, in a sentence that goes on after "It needs": products, reviews. */
  readonly needs?: string
  /** The network at whose addresses this one is, by the settings of that one; its application is its own. */
  readonly at?: Platform
  /** Where the network is, by the name under which its adapter is told: each ends with `Url`. */
  readonly addresses: { readonly [Key in Name]: { readonly fallback: string; readonly does: string } }
  /** What else its adapter is told, such as the version of the interface: `FACEBOOK_VERSION` for `version`. */
  readonly settings?: { readonly [Key in Further]: Further extends never ? never : ProtocolSetting }
  /** Whether the network has applications for trying, `TIKTOK_SANDBOX_CLIENT_ID`; they count in staging alone. @default false */
  readonly hasTrials?: boolean
  /** Whether it is asked by way of the platform's gateway, which wants to know for which organization; without a way there it is not set up. @default false */
  readonly viaGateway?: boolean
  /** Loads the adapter, which only processes with this subgraph need. */
  load(): Promise<Adapter<Name | Further>>
}

export interface ProtocolSetting {
  readonly fallback: string
  readonly does: string
  /** What it looks like, and how that is said to whoever mistypes it: `must be a month such as 202610`. */
  readonly pattern: RegExp
  readonly means: string
}

export interface Adapter<Name extends string = string> {
  /** The network's protocol at the addresses of an application. @param gateway null where there is no way there */
  open(application: Application<Name>, outbound: WayOut, gateway: Gateway | null): Network
}

/**
 * The platform's gateway to third parties, as publishing calls it.
 * @param path below the gateway's: `/platform/youtube/…`
 * @param organizationId to whose account it counts the call
 * @throws OutboundFailure
 */
export type Gateway = (path: string, organizationId: string | null, options?: CallOptions) => Promise<OutboundAnswer>

/** An application of ours at a network, and where that network, or a stand-in, is found. */
export type Application<Name extends string = string> = { readonly clientId: string; readonly clientSecret: string } & { readonly [Key in Name]: string }

/** Where an application, or whoever has none, finds its network. */
export const addressesOf = (application: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(application).flatMap(([name, value]) => (name.endsWith('Url') ? [value] : []))

/** Whether a network gave an application for trying: what it publishes, only its own account sees. */
export const isTrial = (application: { readonly [Name in string]?: string }): boolean => application.kind === 'TRIAL'

/** Tokens as a network granted them. */
export interface Grant {
  readonly accessToken: string
  /** Null when the network gave none: a stored one is kept then. */
  readonly refreshToken: string | null
  /** Lifetime of the access token in seconds; null when the network does not say. */
  readonly expiresIn: number | null
  readonly scopes: readonly string[]
  /** For how many seconds it can be renewed without a person; absent when the network does not say. */
  readonly reconnectIn?: number
}

/** What a grant is renewed with: networks take the one or the other. */
export interface GrantTokens {
  readonly accessToken: string
  /** Null when the network gave none. */
  readonly refreshToken: string | null
}

/** The account behind a grant. */
export interface Account {
  /** The network's id of the account, never reused by it. */
  readonly externalId: string
  /** What people call it, e.g. `@demo`. */
  readonly name: string
  /** What the network calls the account in what it sends us, where that is not `externalId`. */
  readonly scopedId?: string
  readonly avatarUrl?: string | null
  /** Where within the account posts may go, in the network's order; absent where an account is one place. */
  readonly places?: readonly Place[]
}

/** A page, group or organization that an account manages. */
export interface Place {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string
  /** The place's own token, where the network gives one. */
  readonly accessToken: string | null
  /** Whether posts may go there; `reason` says why not. */
  readonly available: boolean
  readonly reason: string | null
}

/** What a network says of how much an account may still post. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: Date | null
}

/** A place within an account of a network, as the client named it. */
export interface Target {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string | null
}

/** A picture or a film, in the form in which the network takes it. */
export interface Medium {
  /** Of the media asset, whatever form of it this is. */
  readonly assetId: string
  readonly kind: MediumKind
  readonly mimeType: string
  readonly bytes: number
  /** In pixels; null when nobody could tell. */
  readonly width: number | null
  readonly height: number | null
  readonly durationMs: number | null
  /** What it shows, for people who cannot see it. */
  readonly altText: string | null
  /** Its bytes, from the first one at each call. */
  open(): Promise<ReadableStream<Uint8Array>>
  /** An address at which a network fetches it, for 24 hours. */
  address(): string
}

export type MediumKind = 'IMAGE' | 'GIF' | 'VIDEO'

/** What an adapter left at the network and wants back: it is kept with the attempt, as JSON, and never holds a token. */
export type Handle = { readonly [Name in string]?: string | number | boolean | null | readonly Handle[] | readonly string[] | Handle }

/** What a network is asked to publish. */
export interface Publication {
  /** For whom, as the gateway counts it. @default null, for a network that is asked directly */
  readonly organizationId?: string | null
  readonly accessToken: string
  /** The token of the place, where the network gave it one. */
  readonly placeToken: string | null
  readonly account: Pick<Account, 'externalId' | 'name'>
  readonly copy: string
  readonly title: string | null
  readonly link: string | null
  readonly visibility: 'PUBLIC' | 'UNLISTED' | 'PRIVATE' | null
  readonly tags: readonly string[]
  /** Where within the account; null: the account itself. */
  readonly target: Target | null
  /** In the order in which they are shown. */
  readonly media: readonly Medium[]
  /** The network's id of the post that this one answers, or comments; null when it stands alone. */
  readonly inReplyTo: string | null
  /** What `prepare` left; null for a network that prepares nothing. */
  readonly handle: Handle | null
}

/** What comes before the call, such as uploads and containers: nobody sees any of it, and it may be done again. */
export type Preparation =
  | { readonly outcome: 'ready'; readonly handle: Handle }
  /** The network works on it: come again, with this. */
  | { readonly outcome: 'processing'; readonly handle: Handle; readonly againInMs: number }
  /** The account has begun as many as the network takes, and will take more in so many ms: the post waits. */
  | { readonly outcome: 'limited'; readonly limit: number; readonly forMs: number }
  /** It cannot be had: `MEDIA_FAILED` when a medium is the reason. `mayPass`: the network could not fetch one, and who serves it may have been away. */
  | {
      readonly outcome: 'refused'
      readonly code: RefusalReason | 'MEDIA_FAILED'
      readonly detail: string
      readonly limit?: RateLimit
      readonly mayPass?: boolean
    }
  | Unsent

/** How the one call that cannot be taken back ended. */
export type Delivery =
  | { readonly outcome: 'delivered'; readonly platformPostId: string; readonly permalink: string; readonly limit?: RateLimit }
  /** The network answered no: nothing was published. */
  | { readonly outcome: 'refused'; readonly code: RefusalReason; readonly detail: string; readonly limit?: RateLimit }
  /** No answer that tells: it may have been published. `refusal`: what the network said of this call, which leaves open what earlier ones did. */
  | { readonly outcome: 'unknown'; readonly detail: string; readonly refusal?: RefusalReason }
  /** The call surely never reached the network. */
  | Unsent

export interface Unsent {
  readonly outcome: 'unsent'
  readonly detail: string
}

export type RefusalReason =
  | 'ACCESS_EXPIRED'
  | 'DUPLICATE_CONTENT'
  | 'RATE_LIMITED'
  | 'CONTENT_REFUSED'
  | 'NETWORK_REFUSED'
  | 'TARGET_UNAVAILABLE'
  | 'MEDIA_FAILED'
  | 'BUDGET_EXCEEDED'

/** A comment of the account under a post of its own. */
export interface Comment {
  /** As a publication has it. */
  readonly organizationId?: string | null
  readonly accessToken: string
  readonly placeToken: string | null
  readonly account: Pick<Account, 'externalId' | 'name'>
  readonly target: Target | null
  /** The network's id of the post. */
  readonly platformPostId: string
  readonly text: string
}

/** What a network counts of a post; null where it does not tell. */
export interface Figures {
  readonly impressions: number | null
  readonly likes: number | null
  readonly comments: number | null
  readonly shares: number | null
  readonly clicks: number | null
  readonly videoViews: number | null
}

/** What a network says of its own account when it is asked whether it has a publication. */
export type Lookup =
  | { readonly found: true; readonly platformPostId: string; readonly permalink: string }
  /** The network lists everything since the attempt began, and it is not there. `isAnothers`: the text is, as a post that was left out. */
  | { readonly found: false; readonly isAnothers: boolean }

/** What a network sends us of an account, signed with the secret of our application there. */
export type SignedRequest =
  | {
      readonly outcome: 'read'
      /** The account's `externalId`, or `scopedId`. */
      readonly accountId: string
      readonly issuedAt: Date
      /** SHA-256 in hex of what was signed: the same for the same request. */
      readonly digest: string
    }
  | { readonly outcome: 'malformed' }
  /** The signature is not that of our application there. */
  | { readonly outcome: 'forged' }

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
  /** Kinds of places that take no posts by how the platform is set up, each with why. @default all that the network lists take some */
  readonly closed?: Readonly<Partial<Record<TargetKind, string>>>
  /** Where people see a post; null when this is not an id of the network. */
  permalink(accountName: string, platformPostId: string): string | null
  /** The address of the consent page, and what must be kept until the person returns. */
  authorize(request: { redirectUri: string; state: string }): Promise<{ url: string; verifier: string }>
  /** Exchanges the callback's parameters for a grant (RFC 6749 §4.1.3). Throws GrantFailure. */
  exchange(callback: { parameters: URLSearchParams; redirectUri: string; state: string; verifier: string }): Promise<Grant>
  /** Renews a grant; the old tokens may be dead afterwards, so keep the new ones before using them. Throws GrantFailure, for good where nothing renews it. */
  refresh(tokens: GrantTokens): Promise<Grant>
  /** Whose account a grant is for, with its places. Throws GrantFailure. @param organizationId as a publication has it */
  account(accessToken: string, organizationId?: string | null): Promise<Account>
  /** Reads what the network sends us of accounts that took their permission back; absent where it sends nothing. Never throws. */
  readSigned?(request: string): SignedRequest
  /** Whose account such a request says it is of, before anybody believes it; null: it is none. */
  accountOfSigned?(request: string): string | null
  /** Ends a grant at the network, where it can. Throws what the network answers otherwise. */
  revoke?(tokens: GrantTokens): Promise<void>
  /** How it is found out whether the network has a post for this place, where that differs from the network's capabilities. */
  lookupOf?(target: Target | null): Capabilities['lookup']
  /**
   * Uploads media, makes containers: whatever may be done again without anybody seeing it. Absent where there is nothing to prepare.
   * @param kept what an earlier call left, to go on from
   */
  prepare?(publication: Omit<Publication, 'handle'>, kept: Handle | null): Promise<Preparation>
  /** Makes the one call that cannot be taken back. Never throws, never repeats the call. */
  publish(publication: Publication): Promise<Delivery>
  /** Looks for a publication among the account's own posts since `since`, leaving out ids that belong to other posts. Throws AccessExpired, and any other error when it cannot tell. */
  find(publication: Publication, since: Date, except: ReadonlySet<string>): Promise<Lookup>
  /** Comments on a post of the account, once. Never throws, never repeats the call. */
  comment?(comment: Comment): Promise<Delivery>
  /** What the network counts of posts of the account, by their ids; posts that are gone are left out. Throws AccessExpired, and any other error. */
  figures?(from: Omit<Comment, 'platformPostId' | 'text'>, platformPostIds: readonly string[]): Promise<ReadonlyMap<string, Figures>>
  /** How many follow the account or place; null when the network does not tell. Throws AccessExpired, and any other error. */
  followers?(from: Omit<Comment, 'platformPostId' | 'text'>): Promise<number | null>
}

export type Networks = ReadonlyMap<Platform, Network>
