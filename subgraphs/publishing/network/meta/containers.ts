import { createHash } from 'node:crypto'
import { crash } from '../../../../platform/crash.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { GrantFailure } from '../network.ts'
import type { Handle, Lookup, Medium, Publication, RateLimit } from '../publication.ts'
import { type Graph, type GraphAnswer, type GraphPreparation, preparationOf, saidOf, tellOf } from './graph.ts'

// Instagram and Threads publish in two steps: a container, which the network fills from our addresses and does not
// show, then one call that publishes it. https://developers.facebook.com/docs/threads/posts,
// https://developers.facebook.com/docs/instagram-platform/content-publishing

/** Differences between Instagram's and Threads' containers. */
export interface ContainerDialect {
  readonly title: string
  /** Edge of the account under which containers are created, e.g. `threads`. */
  readonly edge: string
  /** Field with a container's status, e.g. `status`. */
  readonly statusField: string
  /** Edge that states how many posts the account has left. */
  readonly limitEdge: string
  /** Returns the fields of a container for a single post. @throws Inexpressible */
  single(publication: Unprepared): Readonly<Record<string, string>>
  /** Returns the fields of a container for one of several media. */
  item(medium: Medium): Readonly<Record<string, string>>
  /** Returns the fields of the container that joins several media. @throws Inexpressible */
  carousel(publication: Unprepared, children: readonly string[]): Readonly<Record<string, string>>
}

export type Unprepared = Omit<Publication, 'handle'>

/** Thrown for content that the network's API cannot express. */
export class Inexpressible extends Error {}

/** Stored state of a container. */
interface Kept {
  /** Fingerprint of its content: an edited post needs a new container. */
  readonly of: string
  /** Ids of the containers of single media that exist so far. */
  readonly children: readonly string[]
  readonly container: string | null
  /** Number of status requests made so far. */
  readonly asked: number
  /** Posts left before this one, and the limit; null when the network did not state them. */
  readonly left: number | null
  readonly limit: number | null
}

/** Timeout in ms for creating a container, during which the network fetches the picture. */
const createTimeoutMs = 15_000

const readKept = (handle: Handle | null, of: string): Kept | null => (handle?.of === of ? (handle as unknown as Kept) : null)
const toHandle = (kept: Kept): Handle => ({ ...kept }) as unknown as Handle

/** The container of a handle. */
export const containerOf = (handle: Handle | null): string | null => (typeof handle?.container === 'string' ? handle.container : null)

/** Returns the account's rate limit after this post, from the limit stated before it. */
export function limitAfter(handle: Handle | null): RateLimit | undefined {
  const { left, limit } = (handle ?? {}) as Partial<Kept>
  return typeof left === 'number' && typeof limit === 'number' ? { limit, remaining: Math.max(0, left - 1), resetsAt: null } : undefined
}

const digestOf = ({ copy, link, inReplyTo, media }: Unprepared): string =>
  createHash('sha256')
    .update(JSON.stringify([copy, link, inReplyTo, media.map(({ assetId, altText }) => [assetId, altText])]))
    .digest('hex')
    .slice(0, 32)

/**
 * Returns the delay before the next status request, in ms: the network asks for at most one request per minute when
 * processing is slow.
 */
const againAfter = (asked: number): number => Math.min(30_000, 1_000 * 2 ** asked)

/**
 * Creates the container of a post, or continues with an existing one, until the network has it ready.
 * @param graph client of the account's network
 * @param kept  state of an earlier call
 */
export async function prepareContainer(graph: Graph, dialect: ContainerDialect, publication: Unprepared, kept: Handle | null): Promise<GraphPreparation> {
  const of = digestOf(publication)
  try {
    const known = readKept(kept, of)
    const began = known ?? (await begin(graph, dialect, publication, of))
    if ('outcome' in began) return began
    const made = began.container === null ? await make(graph, dialect, publication, began) : began
    return 'outcome' in made ? made : await look(graph, dialect, publication, made)
  } catch (error) {
    if (error instanceof Inexpressible) return { outcome: 'refused', code: 'CONTENT_REFUSED', detail: error.message }
    if (error instanceof OutboundFailure) return { outcome: 'unsent', detail: error.message }
    throw error
  }
}

/** Checks whether the account may still post today before it creates a container. */
async function begin(
  graph: Graph,
  { title, limitEdge }: ContainerDialect,
  { accessToken, account, inReplyTo }: Unprepared,
  of: string,
): Promise<Kept | GraphPreparation> {
  const kept = { of, children: [], container: null, asked: 0, left: null, limit: null }
  // Replies have a limit of their own, and reading it needs another permission.
  if (inReplyTo !== null) return kept
  const answer = await graph.get<{ data: { quota_usage?: number; config?: { quota_total?: number } }[] }>(`/${account.externalId}/${limitEdge}`, {
    fields: 'quota_usage,config',
    access_token: accessToken,
  })
  const [{ quota_usage: used, config } = {}] = answer.said.data ?? []
  const limit = config?.quota_total
  // Without an answer about the limit the post is sent: the call itself will tell.
  if (typeof used !== 'number' || typeof limit !== 'number') return answer.status === 401 ? preparationOf(title, answer, false) : kept
  if (used < limit) return { ...kept, left: limit - used, limit }
  const detail = `${title} takes ${limit} posts of an account within 24 hours, and this one has made ${used}.`
  return { outcome: 'refused', code: 'RATE_LIMITED', detail, limit: { limit, remaining: 0, resetsAt: null } }
}

async function make(graph: Graph, dialect: ContainerDialect, publication: Unprepared, began: Kept): Promise<Kept | GraphPreparation> {
  const { accessToken, account, media } = publication
  const create = async (parameters: Readonly<Record<string, string>>): Promise<string | GraphPreparation> => {
    const path = `/${account.externalId}/${dialect.edge}`
    const answer = await graph.post<{ id: string }>(path, { ...parameters, access_token: accessToken }, { timeoutMs: createTimeoutMs })
    crash('container-made')
    return answer.said.id ?? preparationOf(dialect.title, answer, false)
  }
  if (media.length < 2) {
    const container = await create(dialect.single(publication))
    return typeof container === 'string' ? { ...began, container } : container
  }
  const children = [...began.children]
  for (const medium of media.slice(children.length)) {
    const child = await create(dialect.item(medium))
    if (typeof child !== 'string') return child
    children.push(child)
  }
  for (const child of children) {
    const status = await statusOf(graph, dialect, child, accessToken)
    if (status.is === 'IN_PROGRESS')
      return { outcome: 'processing', handle: toHandle({ ...began, children, asked: began.asked + 1 }), againInMs: againAfter(began.asked) }
    if (status.is !== 'FINISHED') return failed(dialect, status)
  }
  const container = await create(dialect.carousel(publication, children))
  return typeof container === 'string' ? { ...began, children, container, asked: 0 } : container
}

async function look(graph: Graph, dialect: ContainerDialect, { accessToken }: Unprepared, kept: Kept): Promise<GraphPreparation> {
  const status = await statusOf(graph, dialect, kept.container!, accessToken)
  if (status.is === 'FINISHED') return { outcome: 'ready', handle: toHandle(kept) }
  if (status.is === 'IN_PROGRESS') return { outcome: 'processing', handle: toHandle({ ...kept, asked: kept.asked + 1 }), againInMs: againAfter(kept.asked) }
  return failed(dialect, status)
}

interface Status {
  readonly is: string
  readonly why: string
}

/** @throws OutboundFailure */
async function statusOf(
  graph: Graph,
  { title, statusField }: ContainerDialect,
  id: string,
  accessToken: string,
): Promise<Status & { readonly answer?: GraphAnswer<object> }> {
  const more = statusField === 'status' ? 'error_message' : 'status'
  const answer = await graph.get<Record<string, string>>(`/${id}`, { fields: `${statusField},${more}`, access_token: accessToken })
  const is = answer.said[statusField]
  return is ? { is, why: String(answer.said[more] ?? is) } : { is: 'UNTOLD', why: saidOf(title, answer), answer }
}

function failed({ title }: ContainerDialect, { is, why, answer }: Status & { readonly answer?: GraphAnswer<object> }): GraphPreparation {
  if (answer) return preparationOf(title, answer, false)
  return {
    outcome: 'refused',
    code: 'MEDIA_FAILED',
    detail: `${title} could not make the post: ${is === 'EXPIRED' ? 'it waited too long' : why}`.slice(0, 300),
  }
}

/** A post in the listing format of Instagram and Threads. */
export interface ListedMedium {
  readonly id: string
  readonly timestamp?: string
  readonly permalink?: string
  readonly caption?: string
  readonly text?: string
}

/** Tolerance in ms when comparing times: the network stores whole seconds, and its clock differs from ours. */
const skewMs = 5_000

/**
 * Finds out whether a container was published, and under which id.
 *
 * The container's own status says whether it was published (`PUBLISHED`). It does not name the post, so the post is
 * searched for in the account's list by text and time. A published post that is not listed yet leaves the question
 * open.
 * @param listing the account's posts since a moment, the newest first
 * @param isListed whether a list contains such posts at all
 * @throws AccessExpired; any other error when the network cannot answer
 */
export async function findByContainer(
  graph: Graph,
  dialect: ContainerDialect,
  { accessToken, handle, copy, link }: Publication,
  since: Date,
  except: ReadonlySet<string>,
  { listing, isListed }: { listing(since: number): Promise<readonly ListedMedium[]>; readonly isListed: boolean },
): Promise<Lookup> {
  const { title, statusField } = dialect
  const container = containerOf(handle)
  if (!container) throw new Error(`${title} cannot be asked: nothing was kept of what was made there`)
  const { [statusField]: status } = tellOf(title, await graph.get<Record<string, string>>(`/${container}`, { fields: statusField, access_token: accessToken }))
  if (status !== 'PUBLISHED') {
    if (!['IN_PROGRESS', 'FINISHED', 'ERROR', 'EXPIRED'].includes(status ?? '')) throw new Error(`${title} does not say whether it has published: ${status}`)
    return { found: false, isAnothers: false }
  }
  // A further request would not help, so a person decides at once.
  if (!isListed) throw new GrantFailure(`${title} has published it, and does not tell under which id without a further permission`, true)
  const begin = since.getTime() - skewMs
  const same = (await listing(Math.floor(begin / 1000))).filter(
    ({ id, timestamp, caption, text }) =>
      !except.has(id) &&
      (timestamp === undefined || Date.parse(timestamp) >= Math.floor(begin / 1000) * 1000) &&
      saysTheSame(caption ?? text ?? '', copy, link),
  )
  // Of several posts with the same text the oldest one matches: the others belong to later attempts.
  const found = same.at(-1)
  if (!found) throw new Error(`${title} has published it, and does not list it yet`)
  return { found: true, platformPostId: found.id, permalink: found.permalink ?? '' }
}

const plain = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

/** Whether a listed text equals the sent one, with or without the link appended to it. */
const saysTheSame = (listed: string, copy: string, link: string | null): boolean =>
  plain(listed) === plain(copy) || (link !== null && plain(listed) === plain(`${copy}\n\n${link}`))
