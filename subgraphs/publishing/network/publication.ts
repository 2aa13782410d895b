export type TargetKind = 'PAGE' | 'GROUP' | 'ORGANIZATION' | 'PHOTO_ACCOUNT' | 'THREAD_ACCOUNT'

/** The account behind a grant. */
export interface Account {
  /** The network's id of the account, which it never reuses. */
  readonly externalId: string
  /** Display name, e.g. `@demo`. */
  readonly name: string
  /** Id of the account in the network's requests to us, where it differs from `externalId`. */
  readonly scopedId?: string
  readonly avatarUrl?: string | null
  /**
   * Places within the account where posts may be published, in the network's order; absent where an account is one
   * place.
   */
  readonly places?: readonly Place[]
}

/** A page, group or organization that an account manages. */
export interface Place {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string
  /** The place's own token, where the network issues one. */
  readonly accessToken: string | null
  /** Whether posts may be published there; `reason` states why not. */
  readonly available: boolean
  readonly reason: string | null
}

/** A place within an account of a network, as the client named it. */
export interface Target {
  readonly kind: TargetKind
  readonly externalId: string
  readonly name: string | null
}

/** A network's statement of how many posts an account has left. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: Date | null
}

/** A picture or a film, in the format that the network accepts. */
export interface Medium {
  /** Id of the media asset, the same for all formats. */
  readonly assetId: string
  readonly kind: MediumKind
  readonly mimeType: string
  readonly bytes: number
  /** Width in pixels; null when unknown. */
  readonly width: number | null
  readonly height: number | null
  readonly durationMs: number | null
  /** Text alternative for people who cannot see the medium. */
  readonly altText: string | null
  /** Opens the bytes; each call starts at the first byte. */
  open(): Promise<ReadableStream<Uint8Array>>
  /** Returns an address from which a network can fetch the medium for 24 hours. */
  address(): string
}

export type MediumKind = 'IMAGE' | 'GIF' | 'VIDEO'

/** State that an adapter stores with an attempt, as JSON, to continue later; it never contains a token. */
export type Handle = { readonly [Name in string]?: string | number | boolean | null | readonly Handle[] | readonly string[] | Handle }

/** A post to be published, as passed to a network's adapter. */
export interface Publication {
  /** Organization to which the gateway attributes the call. @default null, for a network that is called directly */
  readonly organizationId?: string | null
  readonly accessToken: string
  /** Token of the place, where the network issued one. */
  readonly placeToken: string | null
  readonly account: Pick<Account, 'externalId' | 'name'>
  readonly copy: string
  readonly title: string | null
  readonly link: string | null
  readonly visibility: 'PUBLIC' | 'UNLISTED' | 'PRIVATE' | null
  readonly tags: readonly string[]
  /** Place within the account; null: the account itself. */
  readonly target: Target | null
  /** Media in display order. */
  readonly media: readonly Medium[]
  /** The network's id of the post that this one replies to or comments on; null for a separate post. */
  readonly inReplyTo: string | null
  /** State that `prepare` returned; null for a network without preparation. */
  readonly handle: Handle | null
}

/**
 * Outcome of the steps before publishing, such as uploads and containers: their effects are invisible, so they may be
 * repeated.
 */
export type Preparation =
  | { readonly outcome: 'ready'; readonly handle: Handle }
  /** The network is still processing: call again later with this handle. */
  | { readonly outcome: 'processing'; readonly handle: Handle; readonly againInMs: number }
  /**
   * The account has reached the network's limit of open uploads, and may start more after so many ms: the post waits.
   */
  | { readonly outcome: 'limited'; readonly limit: number; readonly forMs: number }
  /**
   * Preparation failed: `MEDIA_FAILED` when a medium is the reason. `mayPass`: the network could not fetch a medium,
   * perhaps because our server was unavailable.
   */
  | {
      readonly outcome: 'refused'
      readonly code: RefusalReason | 'MEDIA_FAILED'
      readonly detail: string
      readonly limit?: RateLimit
      readonly mayPass?: boolean
    }
  | Unsent

/** Outcome of the publishing call, which cannot be undone. */
export type Delivery =
  | { readonly outcome: 'delivered'; readonly platformPostId: string; readonly permalink: string; readonly limit?: RateLimit }
  /** The network answered no: nothing was published. */
  | { readonly outcome: 'refused'; readonly code: RefusalReason; readonly detail: string; readonly limit?: RateLimit }
  /**
   * Unclear answer: the post may have been published. `refusal`: the network's refusal of this call, which leaves the
   * effect of earlier calls open.
   */
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

/** A comment of the account under one of its own posts. */
export interface Comment {
  /** Same meaning as in a publication. */
  readonly organizationId?: string | null
  readonly accessToken: string
  readonly placeToken: string | null
  readonly account: Pick<Account, 'externalId' | 'name'>
  readonly target: Target | null
  /** The network's id of the post. */
  readonly platformPostId: string
  readonly text: string
}

/** A network's answer to the question whether the account has a publication. */
export type Lookup =
  | { readonly found: true; readonly platformPostId: string; readonly permalink: string }
  /**
   * The network listed everything since the attempt began, and the post is missing. `isAnothers`: an excluded post has
   * the same text.
   */
  | { readonly found: false; readonly isAnothers: boolean }
