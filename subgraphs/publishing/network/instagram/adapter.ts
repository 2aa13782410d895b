import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { withLink } from '../content/check.ts'
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
import { createMetaOauth, exchangeTimeoutMs, extendTimeoutMs, type GivenToken } from '../meta/exchange.ts'
import { createGraph, deliveryOf, type Graph, reasonOf, saidOf, tellOf, unanswered } from '../meta/graph.ts'
import { accountOfSigned, readSignedRequest } from '../meta/signed.ts'
import { type Application, type Figures, GrantFailure, type Network } from '../network.ts'
import { grantFailure } from '../oauth.ts'
import type { Account, Medium } from '../publication.ts'

/** Address settings of Instagram. */
export type InstagramAddress = 'authorizeUrl' | 'tokenUrl' | 'apiUrl'

const title = 'Instagram'
const scopes = ['instagram_business_basic', 'instagram_business_content_publish']
/** Maximum code points of a caption on Instagram. */
export const mostCaption = 2200
/**
 * Timeouts in ms of the publishing call and of the following request for the post's address: together they fit within a
 * claim.
 */
const [publishTimeoutMs, permalinkTimeoutMs] = [8_000, 1_800]
/** Number of posts per request for figures. */
const figuresAtOnce = 5

const captionOf = ({ copy, link }: Unprepared): Record<string, string> => {
  const caption = withLink(copy, link)
  if ([...caption].length > mostCaption)
    throw new Inexpressible(`With its link behind it the text is longer than Instagram takes: shorten it to ${mostCaption} characters in all.`)
  return caption ? { caption } : {}
}

/** Returns the fields of a picture; only pictures have an alternative text. */
const pictureOf = (medium: Medium): Record<string, string> => ({
  image_url: medium.address(),
  ...(medium.altText && { alt_text: medium.altText.slice(0, 1000) }),
})

/** Instagram's names for containers: https://developers.facebook.com/docs/instagram-platform/content-publishing */
const dialect: ContainerDialect = {
  title,
  edge: 'media',
  statusField: 'status_code',
  limitEdge: 'content_publishing_limit',
  single(publication) {
    const [medium] = publication.media
    if (!medium) throw new Inexpressible('Instagram publishes no text alone: add a picture or a film.')
    return medium.kind === 'VIDEO'
      ? { media_type: 'REELS', video_url: medium.address(), ...captionOf(publication) }
      : { ...pictureOf(medium), ...captionOf(publication) }
  },
  item: medium => ({ ...(medium.kind === 'VIDEO' ? { media_type: 'VIDEO', video_url: medium.address() } : pictureOf(medium)), is_carousel_item: 'true' }),
  carousel: (publication, children) => ({ media_type: 'CAROUSEL', children: children.join(','), ...captionOf(publication) }),
}

/**
 * Reads the account:
 * https://developers.facebook.com/docs/instagram-platform/instagram-api-with-instagram-login/get-started#step-2
 */
async function accountOf(graph: Graph, accessToken: string): Promise<Account> {
  interface Profile {
    readonly id: string
    readonly user_id: string
    readonly username: string
    readonly profile_picture_url: string
  }
  try {
    const answer = await graph.get<Profile & { data: [Profile] }>('/me', { fields: 'id,user_id,username,profile_picture_url', access_token: accessToken })
    const { id, user_id: externalId, username, profile_picture_url: avatarUrl } = (answer.said.data?.[0] ?? answer.said) as Partial<Profile>
    if (!externalId || !username)
      throw new GrantFailure(
        `Instagram does not say whose account this is: ${saidOf(title, answer)}`,
        answer.status >= 400 && answer.status < 500 && answer.status !== 429,
      )
    return { externalId: String(externalId), name: `@${username}`, ...(id && { scopedId: String(id) }), avatarUrl: avatarUrl ?? null }
  } catch (error) {
    throw error instanceof GrantFailure ? error : grantFailure(title, error)
  }
}

/** Opens Instagram's API for professional accounts that sign in at Instagram itself, at the configured addresses. */
export function open(
  { clientId, clientSecret, authorizeUrl, tokenUrl, apiUrl, version }: Application<InstagramAddress | 'version'>,
  outbound: Outbound,
): Network {
  const tokens = createGraph(apiUrl, outbound)
  const codes = createGraph(tokenUrl, outbound)
  const graph = createGraph(`${apiUrl}/${version}`, outbound)
  const profileOf = (accountName: string): string => `https://www.instagram.com/${accountName.replace(/^@/, '')}/`

  return {
    platform: 'INSTAGRAM',
    // A container is published at most once, and its status says whether it was: no request is repeated.
    refusesDuplicates: false,
    // The path of a post's address is not its id, so the id alone leads to the account.
    permalink: (accountName, id) => (/^\d{1,32}$/.test(id) && accountName ? profileOf(accountName) : null),
    ...createMetaOauth({
      title,
      clientId,
      authorizeUrl,
      scopes,
      // Excludes Facebook Login, which yields an account of another kind.
      besides: { enable_fb_login: '0' },
      // https://developers.facebook.com/docs/instagram-platform/instagram-api-with-instagram-login/business-login
      async short(code, redirectUri) {
        const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code', redirect_uri: redirectUri, code }
        const answer = await codes.post<GivenToken & { data: [GivenToken] }>('', form, { timeoutMs: exchangeTimeoutMs, freshConnection: true })
        // The documentation shows it within a list, unlike the actual answer.
        return { ...answer, said: answer.said.data?.[0] ?? answer.said }
      },
      long: token =>
        tokens.get('/access_token', { grant_type: 'ig_exchange_token', client_secret: clientSecret, access_token: token }, { timeoutMs: exchangeTimeoutMs }),
      extend: token => tokens.get('/refresh_access_token', { grant_type: 'ig_refresh_token', access_token: token }, { timeoutMs: extendTimeoutMs }),
      lasts: false,
    }),
    readSigned: request => readSignedRequest(clientSecret, request),
    accountOfSigned,

    account: accessToken => accountOf(graph, accessToken),

    prepare: (publication, kept) => prepareContainer(graph, dialect, publication, kept),

    async publish({ accessToken, account, handle }) {
      const container = containerOf(handle)
      if (!container) return { outcome: 'unsent', detail: 'Instagram was not prepared for this post' }
      try {
        const parameters = { creation_id: container, access_token: accessToken }
        const answer = await graph.post<{ id: string }>(`/${account.externalId}/media_publish`, parameters, {
          timeoutMs: publishTimeoutMs,
          freshConnection: true,
        })
        const { id } = answer.said
        if (!id) return deliveryOf(title, answer, false)
        const told = await graph
          .get<{ permalink: string }>(`/${id}`, { fields: 'permalink', access_token: accessToken }, { timeoutMs: permalinkTimeoutMs })
          .catch(() => null)
        const limit = limitAfter(handle)
        return { outcome: 'delivered', platformPostId: id, permalink: told?.said.permalink ?? profileOf(account.name), ...(limit && { limit }) }
      } catch (error) {
        return unanswered(error)
      }
    },

    async find(publication, since, except) {
      const { accessToken, account } = publication
      const found = await findByContainer(graph, dialect, publication, since, except, {
        isListed: true,
        async listing(from) {
          const parameters = { fields: 'id,caption,timestamp,permalink', since: String(from), limit: '100', access_token: accessToken }
          return tellOf(title, await graph.get<{ data: ListedMedium[] }>(`/${account.externalId}/media`, parameters)).data ?? []
        },
      })
      return found.found ? { ...found, permalink: found.permalink || profileOf(account.name) } : found
    },

    /** Returns figures without views and shares: these need a permission that we do not request. */
    async figures({ accessToken }, ids) {
      const figures = new Map<string, Figures>()
      for (let at = 0; at < ids.length; at += figuresAtOnce)
        await Promise.all(
          ids.slice(at, at + figuresAtOnce).map(async id => {
            const answer = await graph.get<{ like_count: number; comments_count: number }>(`/${id}`, {
              fields: 'like_count,comments_count',
              access_token: accessToken,
            })
            if (answer.error?.code === 100 && reasonOf(answer, false) === 'CONTENT_REFUSED') return
            const { like_count: likes, comments_count: comments } = tellOf(title, answer)
            figures.set(id, { impressions: null, likes: likes ?? null, comments: comments ?? null, shares: null, clicks: null, videoViews: null })
          }),
        )
      return figures
    },

    async followers({ accessToken }) {
      const { followers_count: followers } = tellOf(
        title,
        await graph.get<{ followers_count: number }>('/me', { fields: 'followers_count', access_token: accessToken }),
      )
      return followers ?? null
    },
  }
}
