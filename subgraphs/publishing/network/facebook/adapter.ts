import { createHash } from 'node:crypto'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { withLink } from '../content/check.ts'
import { createMetaOauth, exchangeTimeoutMs } from '../meta/exchange.ts'
import { createGraph, deliveryOf, type GraphAnswer, preparationOf, saidOf, tellOf, unanswered } from '../meta/graph.ts'
import { accountOfSigned, readSignedRequest } from '../meta/signed.ts'
import {
  type Account,
  type Application,
  type Delivery,
  type Figures,
  GrantFailure,
  type Handle,
  type Lookup,
  type Network,
  type Place,
  type Preparation,
  type Publication,
  type Target,
} from '../network.ts'
import { grantFailure } from '../oauth.ts'
import { groupsAreOff } from './groups.ts'

/** Where Facebook is: both without a version, which stands behind. */
export type FacebookAddress = 'authorizeUrl' | 'apiUrl'

const title = 'Facebook'
const scopes = ['pages_show_list', 'pages_manage_posts', 'pages_read_engagement', 'pages_manage_engagement', 'business_management']
/** How long the one call may take, and the question for its address after it, in ms: both within a claim. */
const [publishTimeoutMs, permalinkTimeoutMs] = [8_000, 1_800]
/** How long Facebook may take to fetch a picture, in ms. */
const photoTimeoutMs = 15_000
/** Pages of a hundred pages each that are read of an account. */
const mostLists = 5
/** How many posts are asked about at once. */
const figuresAtOnce = 5
/** Facebook stores creation times in whole seconds, and its clock is not ours, in ms. */
const skewMs = 5_000

interface Listed {
  readonly id: string
  readonly message?: string
  readonly description?: string
  readonly created_time?: string
  readonly permalink_url?: string
}

const plain = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

const addressOf = (id: string, permalink?: string): string =>
  permalink ? new URL(permalink, 'https://www.facebook.com').href : `https://www.facebook.com/${id}`

const isFilm = ({ media }: Pick<Publication, 'media'>): boolean => media[0]?.kind === 'VIDEO'

/** Beside a text alone Facebook shows a link by itself; with pictures and films it stands in the text. */
const messageOf = ({ copy, link, media }: Pick<Publication, 'copy' | 'link' | 'media'>): string => (media.length > 0 ? withLink(copy, link) : copy)

const digestOf = ({ media, target }: Pick<Publication, 'media' | 'target'>): string =>
  createHash('sha256')
    .update(JSON.stringify([target?.externalId, media.map(({ assetId }) => assetId)]))
    .digest('hex')
    .slice(0, 32)

/** Facebook's Graph API at the configured addresses: pages, and groups where an operator allows them. */
export function open(
  { clientId, clientSecret, authorizeUrl, apiUrl, version, groupsEnabled }: Application<FacebookAddress | 'version' | 'groupsEnabled'>,
  outbound: Outbound,
): Network {
  const graph = createGraph(`${apiUrl}/${version}`, outbound)
  const takesGroups = groupsEnabled === '1'
  const application = { client_id: clientId, client_secret: clientSecret }

  const closed: Delivery & Preparation = { outcome: 'refused', code: 'TARGET_UNAVAILABLE', detail: groupsAreOff }
  const isClosed = (target: Target | null): boolean => target?.kind === 'GROUP' && !takesGroups

  /** What is shown for a call about a place: a page's own token, for a group the person's. */
  const tokenFor = ({ target, placeToken, accessToken }: Pick<Publication, 'target' | 'placeToken' | 'accessToken'>): string | null =>
    target?.kind === 'PAGE' ? placeToken : accessToken

  const noPlace: Delivery & Preparation = {
    outcome: 'refused',
    code: 'TARGET_UNAVAILABLE',
    detail: 'Facebook takes posts on pages and in groups alone, and this page or group gives no access any more: connect the account again.',
  }

  const listOf = async <Entry extends object>(path: string, parameters: Readonly<Record<string, string>>): Promise<readonly Entry[]> => {
    const all: Entry[] = []
    let after: string | undefined
    for (let list = 0; list < mostLists; list += 1) {
      const answer = await graph.get<{ data: Entry[]; paging: { next?: string; cursors?: { after?: string } } }>(path, {
        ...parameters,
        limit: '100',
        ...(after && { after }),
      })
      const { data = [], paging } = tellOf(title, answer)
      all.push(...data)
      after = paging?.next ? paging.cursors?.after : undefined
      if (!after) break
    }
    return all
  }

  const placesOf = async (accessToken: string): Promise<readonly Place[]> => {
    interface Page {
      readonly id: string
      readonly name: string
      readonly access_token?: string
      readonly tasks?: readonly string[]
    }
    const pages = await listOf<Page>('/me/accounts', { fields: 'id,name,access_token,tasks', access_token: accessToken })
    const groups = takesGroups
      ? await listOf<{ id: string; name: string }>('/me/groups', { fields: 'id,name', admin_only: 'true', access_token: accessToken })
      : []
    return [
      ...pages.map(({ id, name, access_token: own, tasks }): Place => {
        const may = own !== undefined && (tasks === undefined || tasks.includes('CREATE_CONTENT'))
        return {
          kind: 'PAGE',
          externalId: id,
          name,
          accessToken: own ?? null,
          available: may,
          reason: may ? null : 'The account may not publish on this page: have somebody who manages the page allow it.',
        }
      }),
      ...groups.map(({ id, name }): Place => ({ kind: 'GROUP', externalId: id, name, accessToken: null, available: true, reason: null })),
    ]
  }

  /** Makes a call that publishes, and names what came of it. */
  const call = async (path: string, parameters: Readonly<Record<string, string>>, token: string): Promise<Delivery> => {
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

    async account(accessToken): Promise<Account> {
      try {
        const answer = await graph.get<{ id: string; name: string; picture: { data?: { url?: string } } }>('/me', {
          fields: 'id,name,picture.type(large)',
          access_token: accessToken,
        })
        const { id, name, picture } = answer.said
        if (!id || !name)
          throw new GrantFailure(
            `Facebook does not say whose account this is: ${saidOf(title, answer)}`,
            answer.status >= 400 && answer.status < 500 && answer.status !== 429,
          )
        return { externalId: id, name, avatarUrl: picture?.data?.url ?? null, places: await placesOf(accessToken) }
      } catch (error) {
        throw error instanceof GrantFailure ? error : grantFailure(title, error)
      }
    },

    /** https://developers.facebook.com/docs/graph-api/reference/user/permissions */
    async revoke({ accessToken }) {
      const answer = await outbound(`${apiUrl}/${version}/me/permissions?${new URLSearchParams({ access_token: accessToken })}`, { method: 'DELETE' })
      if (answer.status !== 200) throw new Error(`Facebook did not take the access back: ${answer.status}`)
    },

    /** Pictures go up before, and nobody sees them. A film is fetched by the call that makes it public, which is how Facebook takes one. */
    async prepare(publication, kept): Promise<Preparation> {
      const { target, media, inReplyTo } = publication
      const token = tokenFor(publication)
      if (isClosed(target)) return closed
      if (!target || !token) return noPlace
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
    },

    /** https://developers.facebook.com/docs/pages-api/posts */
    async publish(publication): Promise<Delivery> {
      const { target, link, media, inReplyTo, handle } = publication
      const token = tokenFor(publication)
      if (isClosed(target)) return closed
      if (!target || !token) return noPlace
      const message = messageOf(publication)
      if (inReplyTo !== null) return call(`/${inReplyTo}/comments`, { message: withLink(message, link) }, token)
      if (isFilm(publication))
        return call(
          `/${target.externalId}/videos`,
          { file_url: media[0]!.address(), description: message, ...(publication.title && { title: publication.title }) },
          token,
        )
      const photos = Array.isArray(handle?.photos) ? (handle.photos as readonly string[]) : []
      if (photos.length !== media.length) return { outcome: 'unsent', detail: 'Facebook was not prepared for this post' }
      const attached: Record<string, string> = photos.length > 0 ? { attached_media: JSON.stringify(photos.map(id => ({ media_fbid: id }))) } : {}
      return call(`/${target.externalId}/feed`, { ...(message && { message }), ...(link && photos.length === 0 && { link }), ...attached }, token)
    },

    async find(publication, since, except): Promise<Lookup> {
      const { target, copy, link, inReplyTo } = publication
      const token = tokenFor(publication)
      if (!target || !token) throw new Error('Facebook cannot be asked: the page gives no access any more')
      const begin = since.getTime() - skewMs
      const words = isFilmAttempt(publication) ? 'description' : 'message'
      const path = inReplyTo !== null ? `/${inReplyTo}/comments` : `/${target.externalId}/${words === 'description' ? 'videos' : 'published_posts'}`
      const fields = `id,${words},created_time,permalink_url`
      const answer = await graph.get<{ data: Listed[] }>(path, {
        fields,
        since: String(Math.floor(begin / 1000)),
        limit: '100',
        access_token: token,
        ...(inReplyTo !== null && { filter: 'stream', order: 'reverse_chronological' }),
      })
      const { data } = tellOf(title, answer)
      if (!data) throw new Error('Facebook answered something that is no list')
      const late = data.filter(({ created_time: at }) => at === undefined || Date.parse(at) >= Math.floor(begin / 1000) * 1000)
      const wanted = [copy, withLink(copy, link)].map(plain)
      let isAnothers = false
      for (const listed of late) {
        if (!wanted.includes(plain(listed[words] ?? ''))) continue
        if (except.has(listed.id)) isAnothers = true
        else return { found: true, platformPostId: listed.id, permalink: addressOf(listed.id, listed.permalink_url) }
      }
      if (late.length >= 100) throw new Error('Facebook lists too many posts since the attempt to say that this one is not there')
      return { found: false, isAnothers }
    },

    comment({ platformPostId, text, ...from }): Promise<Delivery> {
      const token = tokenFor(from)
      if (isClosed(from.target)) return Promise.resolve(closed)
      return token ? call(`/${platformPostId}/comments`, { message: text }, token) : Promise.resolve(noPlace)
    },

    /** How often a post was shown, clicked or watched takes read_insights, which nobody is asked for. */
    async figures(from, ids) {
      const figures = new Map<string, Figures>()
      const token = tokenFor(from)
      if (!token) return figures
      interface Counted {
        readonly reactions?: { readonly summary?: { readonly total_count?: number } }
        readonly comments?: { readonly summary?: { readonly total_count?: number } }
        readonly shares?: { readonly count?: number }
      }
      const fields = 'reactions.limit(0).summary(total_count),comments.limit(0).summary(total_count),shares'
      for (let at = 0; at < ids.length; at += figuresAtOnce)
        await Promise.all(
          ids.slice(at, at + figuresAtOnce).map(async id => {
            const answer = await graph.get<Counted>(`/${id}`, { fields, access_token: token })
            if (answer.error?.code === 100) return
            const { reactions, comments, shares } = tellOf(title, answer)
            const counted = { likes: reactions?.summary?.total_count ?? null, comments: comments?.summary?.total_count ?? null, shares: shares?.count ?? 0 }
            figures.set(id, { impressions: null, clicks: null, videoViews: null, ...counted })
          }),
        )
      return figures
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

/** Whether the attempt was one of a film: what was prepared for it says so, for a look-up is told no media. */
const isFilmAttempt = ({ media, handle }: Publication): boolean => isFilm({ media }) || handle?.film === true
