import type { CallOptions } from '../../../platform/ask.ts'
import type { OutboundAnswer, WayOut } from '../../../platform/outbound/outbound.ts'
import type { Account, Comment, Delivery, Handle, Lookup, Preparation, Publication, Target, TargetKind } from './publication.ts'

/**
 * Interface between publishing and social networks. `networks.ts` lists the networks; each folder beside this file
 * implements one.
 */
export type Platform = 'X' | 'LINKEDIN' | 'LINKEDIN_PAGE' | 'FACEBOOK' | 'INSTAGRAM' | 'THREADS' | 'YOUTUBE' | 'TIKTOK'

/**
 * Facts about a network, whether or not publishing to it is implemented: one value, in the network's own folder where
 * it is.
 */
export interface NetworkFacts {
  readonly title: string
  /** Segment of REST paths, `/api/integrations/<path>/connect`, and the name of its stand-in in the sandbox. */
  readonly path: string
  /** The kinds of places that a post for this network may name. */
  readonly targets: readonly TargetKind[]
  readonly capabilities: Capabilities
  readonly content: ContentRules
  /** How the network's API is called; null while that is not implemented. */
  readonly protocol: Protocol | null
}

/** What the platform supports on a network. */
export interface Capabilities {
  readonly firstComment: boolean
  readonly analytics: boolean
  /**
   * How a later post of a thread is published: as a reply, as a comment (text alone) under the first post, or as a
   * separate post.
   */
  readonly thread: 'REPLY' | 'COMMENT' | 'SEPARATE'
  /**
   * How the platform finds out whether a post was published: by an id that preparing left, by the account's own list,
   * or only by a person.
   */
  readonly lookup: 'BY_ID' | 'BY_LISTING' | 'NONE'
}

/** A network's rules for content. `check.ts` checks posts against them. */
export interface ContentRules {
  /** Maximum length of a text, as `measure` counts. */
  readonly copy: number
  /** Maximum length of a comment, as `measure` counts. @default the limit of posts */
  readonly comment?: number
  /** Returns a text's length as the network counts it. */
  measure(copy: string): number
  /** Returns why the network refuses a text regardless of its length, in a sentence; null when it accepts it. */
  objection?(copy: string): string | null
  /**
   * Returns why the network refuses these links, including those in the text, in a sentence; null when it accepts them.
   * @default all links are accepted
   */
  objectionToLinks?(copy: string, link: string | null): string | null
  /**
   * Returns why the network refuses a post's tags, in a sentence; null when it accepts them. @default tags are not sent
   */
  objectionToTags?(tags: readonly string[]): string | null
  /** Whether the network refuses a text that the account has just posted, also as a comment. @default false */
  readonly refusesRepetition?: true
  /** Rules for titles, with lengths in code points; null where a post has no title. */
  readonly title: { readonly most: number; readonly needed: boolean; objection?(title: string): string | null } | null
  /**
   * Where the network has no separate field for a link: appended to the text always, or only for posts with media.
   * @default never in the text
   */
  readonly link?: 'TEXT' | 'TEXT_BESIDE_MEDIA'
  readonly media: MediaRules
  /** Visibility of posts by default; null where the network has no such setting. */
  readonly visibility: 'PRIVATE' | null
}

/**
 * A network's limits for pictures, GIFs and films. The check applies them to posts, and so do the tests of the
 * networks' stand-ins.
 */
export interface MediaRules {
  /** Page that documents the limits, and the day on which it was read. */
  readonly source: { readonly url: string; readonly read: string }
  /** Minimum number of media of a post. */
  readonly least: number
  readonly images: number
  readonly gifs: number
  readonly videos: number
  /** Maximum number of media of a post, of all kinds together. */
  readonly most: number
  /** Whether pictures and films go together. */
  readonly mixed: boolean
  /**
   * Size limit of a GIF in bytes; GIFs are sent unchanged, other pictures are re-encoded (`media/variant/form.ts`).
   * @default the limit of the library
   */
  readonly gifBytes?: number
  /** Limits for films; null where the network accepts no film. */
  readonly film: FilmRules | null
}

/** A network's limits for a film. Properties that the library does not know are not checked. */
export interface FilmRules {
  /** Whether QuickTime is accepted beside MP4. */
  readonly quicktime: boolean
  /** The smallest and the largest file. The library holds 1 GiB at most, so a larger limit is not written down. */
  readonly bytes: readonly [least: number, most: number | null]
  readonly seconds: readonly [least: number, most: number]
  /** Accepted codecs, by their names in files; null: any. */
  readonly codecs: readonly string[] | null
  readonly sound: readonly string[] | null
  /** Limits of the aspect ratio, width divided by height; null: none. */
  readonly ratio: readonly [least: number, most: number] | null
  /** Limits of width and height, in pixels; null: none. */
  readonly sides: readonly [least: number, most: number] | null
  /** Limit of the width, in pixels; null: none. */
  readonly width: number | null
}

/** How a network's API is called, for an application that an operator registers there. */
export interface Protocol<Name extends string = string, Further extends string = string extends Name ? string : never> {
  /**
   * Prefix of the network's settings: `X` for `X_CLIENT_ID`, `X_CLIENT_SECRET` and the addresses, `X_API_URL` for
   * `apiUrl`.
   */
  readonly prefix: string
  /**
   * Products or reviews that an operator must request from the network, as the end of a sentence that begins with "It
   * needs".
   */
  readonly needs?: string
  /** Network whose address settings this one shares; its application is separate. */
  readonly at?: Platform
  /** Addresses of the network, by the name of the adapter's option: each ends with `Url`. */
  readonly addresses: { readonly [Key in Name]: { readonly fallback: string; readonly does: string } }
  /** Further settings of the adapter, such as the version of the API: `FACEBOOK_VERSION` for `version`. */
  readonly settings?: { readonly [Key in Further]: Further extends never ? never : ProtocolSetting }
  /**
   * Whether the network has trial applications, `TIKTOK_SANDBOX_CLIENT_ID`; they are used in staging only. @default
   * false
   */
  readonly hasTrials?: boolean
  /**
   * Whether the network is called through the platform's gateway, which needs the organization's id; without a gateway
   * the network is not set up. @default false
   */
  readonly viaGateway?: boolean
  /** Loads the adapter, so that only processes with this subgraph load its code. */
  load(): Promise<Adapter<Name | Further>>
}

export interface ProtocolSetting {
  readonly fallback: string
  readonly does: string
  /** Valid pattern of the setting, and the error text for an invalid value: `must be a month such as 202610`. */
  readonly pattern: RegExp
  readonly means: string
}

export interface Adapter<Name extends string = string> {
  /** Opens the network's API at the addresses of an application. @param gateway null where there is no gateway */
  open(application: Application<Name>, outbound: WayOut, gateway: Gateway | null): Network
}

/**
 * Calls a third party through the platform's gateway.
 * @param path path below the gateway's: `/platform/youtube/…`
 * @param organizationId organization to which the call is attributed
 * @throws OutboundFailure
 */
export type Gateway = (path: string, organizationId: string | null, options?: CallOptions) => Promise<OutboundAnswer>

/** Our application at a network, with the addresses of that network or of a stand-in. */
export type Application<Name extends string = string> = { readonly clientId: string; readonly clientSecret: string } & { readonly [Key in Name]: string }

/** Returns the address settings of an application. */
export const addressesOf = (application: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(application).flatMap(([name, value]) => (name.endsWith('Url') ? [value] : []))

/** Whether an application is a network's trial application, whose posts only its own account sees. */
export const isTrial = (application: { readonly [Name in string]?: string }): boolean => application.kind === 'TRIAL'

/** Tokens that a network granted. */
export interface Grant {
  readonly accessToken: string
  /** Null when the network issued none: the stored refresh token stays valid then. */
  readonly refreshToken: string | null
  /** Lifetime of the access token in seconds; null when the network does not say. */
  readonly expiresIn: number | null
  readonly scopes: readonly string[]
  /** Seconds for which the grant can be renewed without a person; absent when the network does not say. */
  readonly reconnectIn?: number
}

/** Tokens with which a grant is renewed: some networks use the refresh token, others the access token. */
export interface GrantTokens {
  readonly accessToken: string
  /** Refresh token; null when the network issued none. */
  readonly refreshToken: string | null
}

/** A network's figures of a post; null for each that it does not provide. */
export interface Figures {
  readonly impressions: number | null
  readonly likes: number | null
  readonly comments: number | null
  readonly shares: number | null
  readonly clicks: number | null
  readonly videoViews: number | null
}

/** A request from a network about an account, signed with the secret of our application there. */
export type SignedRequest =
  | {
      readonly outcome: 'read'
      /** The account's `externalId`, or `scopedId`. */
      readonly accountId: string
      readonly issuedAt: Date
      /** SHA-256 in hex of the signed content: equal for equal requests. */
      readonly digest: string
    }
  | { readonly outcome: 'malformed' }
  /** The signature does not match the secret of our application. */
  | { readonly outcome: 'forged' }

/** Thrown when a grant cannot be obtained or renewed. `permanent`: only a new authorization by a person helps. */
export class GrantFailure extends Error {
  readonly permanent: boolean
  constructor(message: string, permanent: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'GrantFailure'
    this.permanent = permanent
  }
}

/** Thrown by a look-up whose access token the network rejects: a retry with a renewed token may succeed. */
export class AccessExpired extends Error {
  constructor(network: string) {
    super(`${network} does not take the access token any more`)
    this.name = 'AccessExpired'
  }
}

/** Adapter of one network. Adapters do not know whether they call the network or a stand-in. */
export interface Network {
  readonly platform: Platform
  /**
   * Whether the network refuses a text that the account has just posted. If so, an interrupted call may be repeated as
   * soon as the network does not list the post, because the network itself prevents a duplicate.
   */
  readonly refusesDuplicates: boolean
  /**
   * Kinds of places that accept no posts because of the platform's configuration, each with the reason. @default no
   * kind is closed
   */
  readonly closed?: Readonly<Partial<Record<TargetKind, string>>>
  /** Returns the public address of a post; null for an id that is not the network's. */
  permalink(accountName: string, platformPostId: string): string | null
  /** Returns the address of the consent page, and the state to store until the person returns. */
  authorize(request: { redirectUri: string; state: string }): Promise<{ url: string; verifier: string }>
  /** Exchanges the callback's parameters for a grant (RFC 6749 §4.1.3). Throws GrantFailure. */
  exchange(callback: { parameters: URLSearchParams; redirectUri: string; state: string; verifier: string }): Promise<Grant>
  /**
   * Renews a grant; the old tokens may be invalid afterwards, so store the new ones before use. Throws GrantFailure,
   * permanent where the grant cannot be renewed.
   */
  refresh(tokens: GrantTokens): Promise<Grant>
  /**
   * Reads the account of a grant, with its places. Throws GrantFailure. @param organizationId same meaning as in a
   * publication
   */
  account(accessToken: string, organizationId?: string | null): Promise<Account>
  /**
   * Verifies and parses a network's request about an account that revoked its permission; absent where the network
   * sends none. Never throws.
   */
  readSigned?(request: string): SignedRequest
  /** Returns the account that such a request claims to be about, without verification; null for an invalid request. */
  accountOfSigned?(request: string): string | null
  /** Revokes a grant at the network, where the network supports that. Throws the network's error. */
  revoke?(tokens: GrantTokens): Promise<void>
  /**
   * Returns how to find out whether a post was published at this place, where that differs from the network's
   * capabilities.
   */
  lookupOf?(target: Target | null): Capabilities['lookup']
  /**
   * Uploads media and creates containers: steps that may be repeated because their effects are invisible. Absent where
   * a network needs none.
   * @param kept state of an earlier call, from which to continue
   */
  prepare?(publication: Omit<Publication, 'handle'>, kept: Handle | null): Promise<Preparation>
  /** Makes the publishing call, which cannot be undone. Never throws, never repeats the call. */
  publish(publication: Publication): Promise<Delivery>
  /**
   * Searches for a publication among the account's posts since `since`, excluding ids that belong to other posts.
   * Throws AccessExpired, and any other error when the answer is unclear.
   */
  find(publication: Publication, since: Date, except: ReadonlySet<string>): Promise<Lookup>
  /** Comments on a post of the account, once. Never throws, never repeats the call. */
  comment?(comment: Comment): Promise<Delivery>
  /**
   * Returns figures of the account's posts by their ids; deleted posts are omitted. Throws AccessExpired, and any other
   * error.
   */
  figures?(from: Omit<Comment, 'platformPostId' | 'text'>, platformPostIds: readonly string[]): Promise<ReadonlyMap<string, Figures>>
  /**
   * Returns the number of followers of the account or place; null when the network does not provide it. Throws
   * AccessExpired, and any other error.
   */
  followers?(from: Omit<Comment, 'platformPostId' | 'text'>): Promise<number | null>
}

export type Networks = ReadonlyMap<Platform, Network>
