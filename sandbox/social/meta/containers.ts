import type { Reply } from '../../network.ts'
import { json, type ReceivedMedium, type ReceivedPost } from '../../network.ts'
import type { Account, OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import { fetchMedium, type MediumRules, type Untaken } from './fetched.ts'
import { refusedByFault } from './graph.ts'
import type { LongTokens } from './tokens.ts'

/** What is to be published, while nobody sees it: https://developers.facebook.com/docs/instagram-platform/content-publishing */
export interface Container {
  readonly id: string
  readonly accountId: string
  /** TEXT, IMAGE, VIDEO, REELS, STORIES or CAROUSEL. */
  readonly mediaType: string
  readonly text: string
  /** The address that it shows beside its text. @default none */
  readonly link?: string
  /** What it is made of: its own medium, or those of its children. */
  readonly media: readonly ReceivedMedium[]
  readonly isItem: boolean
  readonly inReplyToId: string | null
  /** ISO 8601. */
  readonly createdAt: string
  /** Unix milliseconds, until when it is in progress. */
  readonly readyAt: number
  /** Why nothing became of it. */
  readonly error: string | null
  /** The medium that it has become. */
  readonly publishedAs: string | null
}

/** What was published. */
export interface Published {
  readonly id: string
  readonly containerId: string
  readonly accountId: string
  readonly mediaType: string
  readonly text: string
  readonly link?: string
  readonly media: readonly ReceivedMedium[]
  readonly inReplyToId: string | null
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string
}

/** What a network of containers knows besides accounts and tokens. */
export interface ContainerWorld extends OauthWorld {
  readonly containers: Collection<Container>
  readonly published: Collection<Published>
  readonly long: LongTokens
}

/** Milliseconds after which a container that was not published is good no more. */
const lifeMs = 24 * 3_600_000

export type ContainerStatus = 'IN_PROGRESS' | 'FINISHED' | 'PUBLISHED' | 'ERROR' | 'EXPIRED'

export function statusOf({ clock }: ContainerWorld, { publishedAs, error, readyAt, createdAt }: Container): ContainerStatus {
  const now = clock.now().getTime()
  if (publishedAs !== null) return 'PUBLISHED'
  if (now - Date.parse(createdAt) > lifeMs) return 'EXPIRED'
  if (now < readyAt) return 'IN_PROGRESS'
  return error === null ? 'FINISHED' : 'ERROR'
}

/** A picture or a film that a container is to be made of. */
export interface Wanted {
  readonly url: string
  readonly rules: MediumRules
  /** What it shows, in words. */
  readonly altText: string | null
  /** Whether it is fetched while the caller waits; a film is fetched in the course of processing. */
  readonly isFilm: boolean
}

export type NewContainer = Pick<Container, 'mediaType' | 'text' | 'link' | 'isItem' | 'inReplyToId'>

/**
 * Makes a container, and fetches what it is made of. Spends `media-status`, `processing` and `processing-error`.
 * @param refuse how the network refuses a picture that it could not take
 * @param failed what it says of a film that it could not take
 */
export async function makeContainer(
  world: ContainerWorld,
  account: Account,
  made: NewContainer,
  from: Wanted | readonly Container[] | null,
  { refuse, failed }: { refuse(why: Untaken): Reply; failed(why: Untaken): string },
): Promise<Reply> {
  const wanted = from && 'url' in from ? from : null
  const children = from && !('url' in from) ? from : []
  const refused = wanted && world.faults.take(world.name, ['media-status'], account.username)
  if (refused) return { ...refusedByFault(refused), outcome: 'faulted', fault: 'media-status' }
  const medium = wanted && (await fetchMedium(wanted.url, wanted.rules))
  if (typeof medium === 'string' && !wanted!.isFilm) return refuse(medium)
  const fault = world.faults.take(world.name, ['processing', 'processing-error'], account.username)
  const now = world.clock.now()
  const error = fault?.fault === 'processing-error' ? failed('type') : typeof medium === 'string' ? failed(medium) : null
  const id = world.newId()
  world.containers.set(id, {
    ...made,
    id,
    accountId: account.id,
    media:
      typeof medium === 'object' && medium !== null
        ? [{ ...medium, ...(wanted!.altText && { altText: wanted!.altText }) }]
        : children.flatMap(({ media }) => media),
    createdAt: now.toISOString(),
    readyAt: now.getTime() + (fault?.delayMs ?? 0),
    error,
    publishedAs: null,
  })
  const reply = json(200, { id }, 'granted')
  return fault ? { ...reply, outcome: 'faulted', fault: fault.fault } : reply
}

/** Makes a container public. */
export function publishContainer(world: ContainerWorld, container: Container): Reply {
  const { id: containerId, accountId, mediaType, text, link, media, inReplyToId } = container
  const id = world.newId()
  world.published.set(id, {
    ...{ id, containerId, accountId, mediaType, text, media, inReplyToId },
    ...(link !== undefined && { link }),
    createdAt: world.clock.now().toISOString(),
  })
  world.containers.set(containerId, { ...container, publishedAs: id })
  return json(200, { id }, 'accepted')
}

export const receivedOf = ({ accounts, published }: ContainerWorld): ReceivedPost[] =>
  [...published.values()].map(({ id, text, link, createdAt, accountId, inReplyToId, media }) => ({
    receivedAt: createdAt,
    id,
    text,
    ...(link !== undefined && { link }),
    account: { id: accountId, username: accounts.get(accountId)!.username },
    media,
    inReplyToId,
    deletedAt: null,
  }))

/** What an account has published, the newest first, as the network lists it. */
export function publishedBy(
  { published, faults, name, clock }: ContainerWorld,
  { id, username }: Account,
): { readonly all: Published[]; readonly isLagging: boolean } {
  const fault = faults.take(name, ['listing-lag'], username)
  const youngest = fault ? clock.now().getTime() - (fault.delayMs ?? 0) : Number.POSITIVE_INFINITY
  const all = [...published.values()].filter(one => one.accountId === id && Date.parse(one.createdAt) <= youngest).reverse()
  return { all, isLagging: fault !== undefined }
}

/** How many posts an account has published within a day. */
export const usageOf = ({ published, clock }: ContainerWorld, { id }: Account): number =>
  [...published.values()].filter(one => one.accountId === id && clock.now().getTime() - Date.parse(one.createdAt) < lifeMs).length

/** Eleven letters that stand for an id in addresses that people see. */
export const shortcodeOf = (id: string): string => Buffer.from(BigInt(id).toString(16).padStart(16, '0'), 'hex').toString('base64url')
