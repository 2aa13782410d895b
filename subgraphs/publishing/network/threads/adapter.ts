import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { emojiAsBytes, withLink } from '../content/check.ts'
import {
  type ContainerDialect,
  containerOf,
  findByContainer,
  Inexpressible,
  type ListedMedium,
  limitAfter,
  prepareContainer,
  type Unprepared,
} from '../meta/containers.ts'
import { createMetaOauth, exchangeTimeoutMs, extendTimeoutMs } from '../meta/exchange.ts'
import { createGraph, deliveryOf, saidOf, tellOf, unanswered } from '../meta/graph.ts'
import { accountOfSigned, readSignedRequest } from '../meta/signed.ts'
import { type Application, GrantFailure, type Network } from '../network.ts'
import { grantFailure } from '../oauth.ts'
import type { Account, Comment, Delivery, Medium, Publication } from '../publication.ts'

/** Address settings of Threads; both may have a path. */
export type ThreadsAddress = 'authorizeUrl' | 'apiUrl'

const title = 'Threads'
const scopes = ['threads_basic', 'threads_content_publish']
/** Maximum characters of a text on Threads. */
export const mostText = 500
/**
 * Timeouts in ms of the publishing call and of the following request for the post's address: together they fit within a
 * claim.
 */
const [publishTimeoutMs, permalinkTimeoutMs] = [8_000, 1_800]

const textOf = ({ copy, link }: Unprepared): string => {
  const text = withLink(copy, link)
  if (emojiAsBytes(text) > mostText)
    throw new Inexpressible(`With its link behind it the text is longer than Threads takes: shorten it to ${mostText} characters in all.`)
  return text
}

const addressOf = (medium: Medium): Record<string, string> => ({
  ...(medium.kind === 'VIDEO' ? { media_type: 'VIDEO', video_url: medium.address() } : { media_type: 'IMAGE', image_url: medium.address() }),
  ...(medium.altText && { alt_text: medium.altText.slice(0, 1000) }),
})

/** Threads' names for containers: https://developers.facebook.com/docs/threads/posts */
const dialect: ContainerDialect = {
  title,
  edge: 'threads',
  statusField: 'status',
  limitEdge: 'threads_publishing_limit',
  single(publication) {
    const [medium] = publication.media
    const { copy, link, inReplyTo } = publication
    const reply: Record<string, string> = inReplyTo === null ? {} : { reply_to_id: inReplyTo }
    // Only a text post has a link preview.
    if (medium) return { ...addressOf(medium), text: textOf(publication), ...reply }
    return { media_type: 'TEXT', text: copy || link || '', ...(link && { link_attachment: link }), ...reply }
  },
  item: medium => ({ ...addressOf(medium), is_carousel_item: 'true' }),
  carousel: (publication, children) => ({
    media_type: 'CAROUSEL',
    children: children.join(','),
    text: textOf(publication),
    ...(publication.inReplyTo && { reply_to_id: publication.inReplyTo }),
  }),
}

/** Opens Threads' API at the configured addresses. */
export function open({ clientId, clientSecret, authorizeUrl, apiUrl }: Application<ThreadsAddress>, outbound: Outbound): Network {
  const tokens = createGraph(apiUrl, outbound)
  const graph = createGraph(`${apiUrl}/v1.0`, outbound)
  const profileOf = (accountName: string): string => `https://www.threads.com/@${accountName.replace(/^@/, '')}`

  const publishContainer = async (accessToken: string, account: Publication['account'], container: string): Promise<Delivery> => {
    try {
      const parameters = { creation_id: container, access_token: accessToken }
      const answer = await graph.post<{ id: string }>(`/${account.externalId}/threads_publish`, parameters, {
        timeoutMs: publishTimeoutMs,
        freshConnection: true,
      })
      const { id } = answer.said
      if (!id) return deliveryOf(title, answer, false)
      const told = await graph
        .get<{ permalink: string }>(`/${id}`, { fields: 'permalink', access_token: accessToken }, { timeoutMs: permalinkTimeoutMs })
        .catch(() => null)
      return { outcome: 'delivered', platformPostId: id, permalink: told?.said.permalink ?? profileOf(account.name) }
    } catch (error) {
      return unanswered(error)
    }
  }

  return {
    platform: 'THREADS',
    // A container is published at most once, and its status says whether it was: no request is repeated.
    refusesDuplicates: false,
    // The path of a post's address is not its id, so the id alone leads to the account.
    permalink: (accountName, id) => (/^\d{1,32}$/.test(id) && accountName ? profileOf(accountName) : null),
    ...createMetaOauth({
      title,
      clientId,
      authorizeUrl,
      scopes,
      // https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions
      short: (code, redirectUri) =>
        tokens.post(
          '/oauth/access_token',
          { client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code', redirect_uri: redirectUri, code },
          { timeoutMs: exchangeTimeoutMs, freshConnection: true },
        ),
      // https://developers.facebook.com/docs/threads/get-started/long-lived-tokens
      long: token =>
        tokens.get('/access_token', { grant_type: 'th_exchange_token', client_secret: clientSecret, access_token: token }, { timeoutMs: exchangeTimeoutMs }),
      extend: token => tokens.get('/refresh_access_token', { grant_type: 'th_refresh_token', access_token: token }, { timeoutMs: extendTimeoutMs }),
      lasts: false,
    }),
    readSigned: request => readSignedRequest(clientSecret, request),
    accountOfSigned,

    /** Reads the account: https://developers.facebook.com/docs/threads/threads-profiles */
    async account(accessToken): Promise<Account> {
      try {
        const answer = await graph.get<{ id: string; username: string; threads_profile_picture_url: string }>('/me', {
          fields: 'id,username,threads_profile_picture_url',
          access_token: accessToken,
        })
        const { id, username, threads_profile_picture_url: avatarUrl } = answer.said
        if (!id || !username)
          throw new GrantFailure(
            `Threads does not say whose account this is: ${saidOf(title, answer)}`,
            answer.status >= 400 && answer.status < 500 && answer.status !== 429,
          )
        return { externalId: id, name: `@${username}`, avatarUrl: avatarUrl ?? null }
      } catch (error) {
        throw error instanceof GrantFailure ? error : grantFailure(title, error)
      }
    },

    prepare: (publication, kept) => prepareContainer(graph, dialect, publication, kept),

    async publish({ accessToken, account, handle }) {
      const container = containerOf(handle)
      if (!container) return { outcome: 'unsent', detail: 'Threads was not prepared for this post' }
      const delivery = await publishContainer(accessToken, account, container)
      const limit = limitAfter(handle)
      return delivery.outcome === 'delivered' && limit ? { ...delivery, limit } : delivery
    },

    async find(publication, since, except) {
      const { accessToken, account, inReplyTo } = publication
      const found = await findByContainer(graph, dialect, publication, since, except, {
        // Listing replies needs threads_read_replies, which we do not request.
        isListed: inReplyTo === null,
        async listing(from) {
          const parameters = { fields: 'id,text,timestamp,permalink', since: String(from), limit: '100', access_token: accessToken }
          return tellOf(title, await graph.get<{ data: ListedMedium[] }>(`/${account.externalId}/threads`, parameters)).data ?? []
        },
      })
      return found.found ? { ...found, permalink: found.permalink || profileOf(account.name) } : found
    },

    /** Publishes a comment as a reply: a container, then the publishing call. */
    async comment({ accessToken, account, platformPostId, text }: Comment): Promise<Delivery> {
      const publication = {
        accessToken,
        placeToken: null,
        account,
        copy: text,
        title: null,
        link: null,
        visibility: null,
        tags: [],
        target: null,
        media: [],
        inReplyTo: platformPostId,
      }
      const prepared = await prepareContainer(graph, dialect, publication, null)
      if (prepared.outcome === 'ready') return publishContainer(accessToken, account, containerOf(prepared.handle)!)
      if (prepared.outcome === 'processing') return { outcome: 'unsent', detail: 'Threads still prepares the comment' }
      return prepared
    },
  }
}
