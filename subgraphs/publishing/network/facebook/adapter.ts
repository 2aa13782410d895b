import { createHash } from 'node:crypto'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { withLink } from '../content/check.ts'
import { createMetaOauth, exchangeTimeoutMs } from '../meta/exchange.ts'
import { createGraph, deliveryOf, type Graph, type GraphAnswer, preparationOf, tellOf, unanswered } from '../meta/graph.ts'
import { accountOfSigned, readSignedRequest } from '../meta/signed.ts'
import type { Application, Figures, Network } from '../network.ts'
import type { Delivery, Handle, Lookup, Preparation, Publication, Target } from '../publication.ts'
import { figuresOf } from './figures.ts'
import { groupsAreOff } from './groups.ts'
import { accountOf } from './places.ts'
import { addressOf, findListed, isFilm, type Listed, title } from './posts.ts'

/** Address settings of Facebook, both without the API version, which the adapter appends. */
export type FacebookAddress = 'authorizeUrl' | 'apiUrl'

const scopes = ['pages_show_list', 'pages_manage_posts', 'pages_read_engagement', 'pages_manage_engagement', 'business_management']
/**
 * Timeouts in ms of the publishing call and of the following request for the post's address: together they fit within a
 * claim.
 */
const [publishTimeoutMs, permalinkTimeoutMs] = [8_000, 1_800]
/** Timeout for Facebook to fetch a picture, in ms. */
const photoTimeoutMs = 15_000
/**
 * Returns the message of a post: Facebook displays a link beside a text-only post, but with pictures and films the link
 * must be in the text.
 */
const messageOf = ({ copy, link, media }: Pick<Publication, 'copy' | 'link' | 'media'>): string => (media.length > 0 ? withLink(copy, link) : copy)

const digestOf = ({ media, target }: Pick<Publication, 'media' | 'target'>): string =>
  createHash('sha256')
    .update(JSON.stringify([target?.externalId, media.map(({ assetId }) => assetId)]))
    .digest('hex')
    .slice(0, 32)

/** Makes a publishing call and maps its result. */
async function sendTo(graph: Graph, path: string, parameters: Readonly<Record<string, string>>, token: string): Promise<Delivery> {
  try {
    const answer = await graph.post<{ id: string }>(path, { ...parameters, access_token: token }, { timeoutMs: publishTimeoutMs, freshConnection: true })
    const { id } = answer.said
    if (!id) return deliveryOf(title, answer, true)
    const told = await graph.get<Listed>(`/${id}`, { fields: 'permalink_url', access_token: token }, { timeoutMs: permalinkTimeoutMs }).catch(() => null)
    return { outcome: 'delivered', platformPostId: id, permalink: addressOf(id, told?.said.permalink_url) }
  } catch (error) {
    return unanswered(error)
  }
}

/** Uploads the pictures of a post that are not uploaded yet, unpublished; films and replies need none. */
async function uploadPhotos(graph: Graph, publication: Omit<Publication, 'handle'>, target: Target, token: string, kept: Handle | null): Promise<Preparation> {
  const { media, inReplyTo } = publication
  const of = digestOf(publication)
  const photos = kept?.of === of && Array.isArray(kept.photos) ? [...(kept.photos as readonly string[])] : []
  const handle = (): Handle => ({ of, photos: [...photos], film: isFilm(publication) })
  if (inReplyTo !== null || isFilm(publication)) return { outcome: 'ready', handle: handle() }
  try {
    for (const medium of media.slice(photos.length)) {
      const alt: Record<string, string> = medium.altText ? { alt_text_custom: medium.altText.slice(0, 1000) } : {}
      const answer: GraphAnswer<{ id: string }> = await graph.post(
        `/${target.externalId}/photos`,
        { url: medium.address(), published: 'false', ...alt, access_token: token },
        { timeoutMs: photoTimeoutMs },
      )
      if (!answer.said.id) return preparationOf(title, answer, true)
      photos.push(answer.said.id)
    }
    return { outcome: 'ready', handle: handle() }
  } catch (error) {
    if (error instanceof OutboundFailure) return { outcome: 'unsent', detail: error.message }
    throw error
  }
}

/** Opens Facebook's Graph API at the configured addresses: pages, and groups where an operator allows them. */
export function open(
  { clientId, clientSecret, authorizeUrl, apiUrl, version, groupsEnabled }: Application<FacebookAddress | 'version' | 'groupsEnabled'>,
  outbound: Outbound,
): Network {
  const graph = createGraph(`${apiUrl}/${version}`, outbound)
  const takesGroups = groupsEnabled === '1'
  const application = { client_id: clientId, client_secret: clientSecret }

  const closed: Delivery & Preparation = { outcome: 'refused', code: 'TARGET_UNAVAILABLE', detail: groupsAreOff }
  const isClosed = (target: Target | null): boolean => target?.kind === 'GROUP' && !takesGroups

  /** Returns the token for a call about a place: the page's own token, or the person's token for a group. */
  const tokenFor = ({ target, placeToken, accessToken }: Pick<Publication, 'target' | 'placeToken' | 'accessToken'>): string | null =>
    target?.kind === 'PAGE' ? placeToken : accessToken

  const send = (path: string, parameters: Readonly<Record<string, string>>, token: string) => sendTo(graph, path, parameters, token)

  const noPlace: Delivery & Preparation = {
    outcome: 'refused',
    code: 'TARGET_UNAVAILABLE',
    detail: 'Facebook takes posts on pages and in groups alone, and this page or group gives no access any more: connect the account again.',
  }

  return {
    platform: 'FACEBOOK',
    // Facebook refuses some repeated texts, without a documented rule.
    refusesDuplicates: false,
    ...(!takesGroups && { closed: { GROUP: groupsAreOff } }),
    permalink: (_accountName, id) => (/^\d{1,32}(?:_\d{1,32})?$/.test(id) ? addressOf(id) : null),
    lookupOf: (target: Target | null) => (target?.kind === 'GROUP' ? 'NONE' : 'BY_LISTING'),
    ...createMetaOauth({
      title,
      clientId,
      authorizeUrl: `${authorizeUrl}/${version}/dialog/oauth`,
      scopes: [...scopes, ...(takesGroups ? ['publish_to_groups'] : [])],
      // https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow
      short: (code, redirectUri) => graph.get('/oauth/access_token', { ...application, redirect_uri: redirectUri, code }, { timeoutMs: exchangeTimeoutMs }),
      // https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived
      long: token =>
        graph.get('/oauth/access_token', { ...application, grant_type: 'fb_exchange_token', fb_exchange_token: token }, { timeoutMs: exchangeTimeoutMs }),
      extend: null,
      // Page tokens obtained with a long-lived token do not expire.
      lasts: true,
    }),
    readSigned: request => readSignedRequest(clientSecret, request),
    accountOfSigned,

    account: accessToken => accountOf(graph, takesGroups, accessToken),

    /** Revokes the permissions: https://developers.facebook.com/docs/graph-api/reference/user/permissions */
    async revoke({ accessToken }) {
      const answer = await outbound(`${apiUrl}/${version}/me/permissions?${new URLSearchParams({ access_token: accessToken })}`, { method: 'DELETE' })
      if (answer.status !== 200) throw new Error(`Facebook did not take the access back: ${answer.status}`)
    },

    /** Uploads pictures unpublished before the post. Facebook fetches a film with the same call that publishes it. */
    async prepare(publication, kept): Promise<Preparation> {
      const { target } = publication
      const token = tokenFor(publication)
      if (isClosed(target)) return closed
      return target && token ? uploadPhotos(graph, publication, target, token, kept) : noPlace
    },

    /** Publishes a post: https://developers.facebook.com/docs/pages-api/posts */
    async publish(publication): Promise<Delivery> {
      const { target, link, media, inReplyTo, handle } = publication
      const token = tokenFor(publication)
      if (isClosed(target)) return closed
      if (!target || !token) return noPlace
      const message = messageOf(publication)
      if (inReplyTo !== null) return send(`/${inReplyTo}/comments`, { message: withLink(message, link) }, token)
      if (isFilm(publication))
        return send(
          `/${target.externalId}/videos`,
          { file_url: media[0]!.address(), description: message, ...(publication.title && { title: publication.title }) },
          token,
        )
      const photos = Array.isArray(handle?.photos) ? (handle.photos as readonly string[]) : []
      if (photos.length !== media.length) return { outcome: 'unsent', detail: 'Facebook was not prepared for this post' }
      const attached: Record<string, string> = photos.length > 0 ? { attached_media: JSON.stringify(photos.map(id => ({ media_fbid: id }))) } : {}
      return send(`/${target.externalId}/feed`, { ...(message && { message }), ...(link && photos.length === 0 && { link }), ...attached }, token)
    },

    find(publication, since, except): Promise<Lookup> {
      const token = tokenFor(publication)
      if (!publication.target || !token) return Promise.reject(new Error('Facebook cannot be asked: the page gives no access any more'))
      return findListed(graph, publication, { target: publication.target, token, since, except })
    },

    comment({ platformPostId, text, ...from }): Promise<Delivery> {
      const token = tokenFor(from)
      if (isClosed(from.target)) return Promise.resolve(closed)
      return token ? send(`/${platformPostId}/comments`, { message: text }, token) : Promise.resolve(noPlace)
    },

    figures(from, ids) {
      const token = tokenFor(from)
      return token ? figuresOf(graph, token, ids) : Promise.resolve(new Map<string, Figures>())
    },

    async followers(from) {
      const token = tokenFor(from)
      if (from.target?.kind !== 'PAGE' || !token) return null
      const { followers_count: followers } = tellOf(
        title,
        await graph.get<{ followers_count: number }>(`/${from.target.externalId}`, { fields: 'followers_count', access_token: token }),
      )
      return followers ?? null
    },
  }
}
