import { spoilt } from '../../faults.ts'
import type { Call, Deps, Network, Reply, Twin } from '../../network.ts'
import { json } from '../../network.ts'
import { bearerOf, whoShows } from '../../oauth/grants.ts'
import { demoOf, openOauth } from '../../oauth/open.ts'
import { authorize } from '../../oauth/server.ts'
import type { Account, Grant } from '../../oauth/world.ts'
import { filmRules } from '../films/rules.ts'
import {
  type Container,
  type ContainerWorld,
  makeContainer,
  type Published,
  publishContainer,
  publishedBy,
  receivedOf,
  shortcodeOf,
  statusOf,
  usageOf,
} from '../meta/containers.ts'
import { emitter } from '../meta/emit.ts'
import type { Untaken } from '../meta/fetched.ts'
import {
  fieldsOf,
  graphError,
  graphTime,
  invalid,
  knowsVersion,
  listed,
  noPath,
  noPermission,
  noToken,
  notThere,
  noVersion,
  parametersOf,
  refusedByFault,
  shown,
} from '../meta/graph.ts'
import { exchangeCode, extend, idsFrom, lengthen, mannersOf, newClient } from '../meta/tokens.ts'

const scopes = {
  instagram_business_basic: 'Read your profile and media',
  instagram_business_content_publish: 'Publish pictures and films in your name',
  instagram_business_manage_comments: 'Read and write comments',
  instagram_business_manage_messages: 'Read and write messages',
  instagram_business_manage_insights: 'Read figures',
} as const

const asked = ['instagram_business_basic', 'instagram_business_content_publish']

/**
 * Maximum number of posts within 24 hours:
 * https://developers.facebook.com/docs/instagram-platform/content-publishing#rate-limit
 */
const mostADay = 100

const image = { types: ['image/jpeg'], mostBytes: 8 * 1024 * 1024 }
const film = { types: ['video/mp4', 'video/quicktime'], mostBytes: 300_000_000, film: filmRules.instagram }

interface Asked {
  readonly world: ContainerWorld
  readonly call: Call
  readonly parameters: URLSearchParams
  readonly account: Account
  readonly grant: Grant
}

/** Stand-in for Instagram with business login: https://developers.facebook.com/docs/instagram-platform */
export const instagram = {
  title: 'Instagram',
  addresses: { authorizeUrl: '/oauth/authorize', tokenUrl: '/oauth/access_token', apiUrl: '' },
  settings: { version: 'v25.0' },
  play(name, deps) {
    const world = openWorld(name, deps)
    return { network: networkOf(world), demo: demoOf(world, asked) }
  },
} satisfies Twin

function openWorld(name: string, deps: Deps): ContainerWorld {
  const behaviour = mannersOf({ title: 'Instagram', scopes, tokenPrefix: 'IGAA', redirectSuffix: '#_' })
  return {
    ...openOauth(name, deps, { behaviour, newIds: idsFrom('17841'), newClient }),
    containers: deps.state.collection(`${name}.containers`, 2000),
    published: deps.state.collection(`${name}.published`, 5000),
    long: deps.state.collection(`${name}.long`, 2000),
  }
}

/** Returns an account's app-scoped id, used in tokens and webhooks; the profile has both ids. */
export const scopedIdOf = ({ id }: Account): string => `2${id.slice(5)}7`

function networkOf(world: ContainerWorld): Network {
  return {
    name: world.name,
    answer: call => answer(world, call),
    received: () => receivedOf(world),
    controls: { emit: emitter(world, scopedIdOf) },
  }
}

function answer(world: ContainerWorld, call: Call): Reply | Promise<Reply> {
  const parameters = parametersOf(call)
  switch (`${call.method} ${call.path}`) {
    case 'GET /oauth/authorize':
    case 'POST /oauth/authorize':
      return authorize(world, call)
    case 'POST /oauth/access_token': {
      if (parameters.get('grant_type') !== 'authorization_code') return invalid('grant_type')
      const given = exchangeCode(world, parameters)
      if ('status' in given) return given
      const { accountId, scopes: permissions } = given.grant
      return json(200, { access_token: given.accessToken, user_id: scopedIdOf(world.accounts.get(accountId)!), permissions }, 'granted')
    }
    case 'GET /access_token':
      if (parameters.get('grant_type') !== 'ig_exchange_token') return invalid('grant_type')
      return lengthen(world, world.long, parameters.get('access_token'), parameters.get('client_secret'))
    case 'GET /refresh_access_token':
      if (parameters.get('grant_type') !== 'ig_refresh_token') return invalid('grant_type')
      return extend(world, world.long, call, parameters.get('access_token'))
  }
  const [, version, node, edge] = /^\/(v\d+\.\d)\/(\w+)(?:\/(\w+))?$/.exec(call.path) ?? []
  if (!version || !node) return noPath(call.path)
  if (!knowsVersion(version)) return noVersion(version)
  const { grant, account, fault } = whoShows(world, call, parameters.get('access_token') ?? bearerOf(call))
  if (!grant) return fault ? { ...noToken(), outcome: 'faulted', fault } : noToken()
  if (!grant.scopes.includes('instagram_business_basic')) return noPermission('instagram_business_basic')
  const asking: Asked = { world, call, parameters, account, grant }
  const isOwn = node === 'me' || node === account.id || node === scopedIdOf(account)
  if (edge === undefined) return call.method === 'GET' ? readNode(asking, node, isOwn) : notThere(node, call.method.toLowerCase())
  if (!isOwn) return notThere(node, call.method.toLowerCase())
  return answerEdge(asking, edge)
}

function answerEdge(asking: Asked, edge: string): Reply | Promise<Reply> {
  const { world, call, account, grant, parameters } = asking
  const publishes = grant.scopes.includes('instagram_business_content_publish')
  switch (`${call.method} ${edge}`) {
    case 'POST media':
      return publishes ? create(asking) : noPermission('instagram_business_content_publish')
    case 'POST media_publish':
      return publishes ? publish(asking) : noPermission('instagram_business_content_publish')
    case 'GET media': {
      const { all, isLagging } = publishedBy(world, account)
      const fields = fieldsOf(parameters, [])
      const since = Number(parameters.get('since') ?? 0) * 1000
      const most = Math.min(100, Number(parameters.get('limit') ?? 25))
      const reply = listed(
        all
          .filter(({ createdAt }) => Date.parse(createdAt) >= since)
          .slice(0, most)
          .map(one => mediumOf(world, one, fields)),
      )
      return isLagging ? { ...reply, outcome: 'faulted', fault: 'listing-lag' } : reply
    }
    case 'GET content_publishing_limit':
      return publishes
        ? listed([
            shown({ quota_usage: usageOf(world, account), config: { quota_total: mostADay, quota_duration: 86_400 } }, fieldsOf(parameters, ['quota_usage'])),
          ])
        : noPermission('instagram_business_content_publish')
  }
  return noPath(`/${edge}`)
}

function readNode({ world, parameters, account }: Asked, node: string, isOwn: boolean): Reply {
  if (isOwn) {
    const fault = world.faults.take(world.name, ['profile-status'], account.username)
    if (fault) return { ...refusedByFault(fault), outcome: 'faulted', fault: 'profile-status' }
    const { id, username, name } = account
    const more = { account_type: 'BUSINESS', profile_picture_url: `https://scontent.cdninstagram.com/${id}.jpg`, followers_count: 42, follows_count: 7 }
    const all = { id: scopedIdOf(account), user_id: id, username, name, media_count: publishedBy(world, account).all.length, ...more }
    return json(200, shown(all, fieldsOf(parameters, [])), 'read')
  }
  const container = world.containers.get(node)
  if (container?.accountId === account.id) {
    const status = statusOf(world, container)
    const inWords = status === 'ERROR' ? `Error: Media upload has failed with error code ${container.error}` : status
    return json(200, shown({ id: node, status_code: status, status: inWords }, fieldsOf(parameters, [])), 'read')
  }
  const published = world.published.get(node)
  return published?.accountId === account.id ? json(200, mediumOf(world, published, fieldsOf(parameters, [])), 'read') : notThere(node)
}

const types: Readonly<Record<string, string>> = { CAROUSEL: 'CAROUSEL_ALBUM', REELS: 'VIDEO' }

const mediumOf = ({ accounts }: ContainerWorld, { id, accountId, text, createdAt, mediaType }: Published, fields: ReadonlySet<string>): object => {
  const shortcode = shortcodeOf(id)
  const all = {
    id,
    caption: text || null,
    username: accounts.get(accountId)!.username,
    shortcode,
    permalink: `https://www.instagram.com/${mediaType === 'REELS' ? 'reel' : 'p'}/${shortcode}/`,
    timestamp: graphTime(createdAt),
    media_type: types[mediaType] ?? mediaType,
    media_product_type: mediaType === 'REELS' ? 'REELS' : 'FEED',
    like_count: 3,
    comments_count: 1,
  }
  return shown(all, fields)
}

/**
 * Builds an error answer:
 * https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes
 */
function refuse(why: Untaken): Reply {
  if (why === 'unreachable')
    return graphError({
      code: 9004,
      subcode: 2_207_052,
      message: 'Only photo or video can be accepted as media type.',
      user: { title: 'Media download has failed', message: 'The media could not be fetched from this URI.' },
    })
  if (why === 'large')
    return graphError({
      code: 36_000,
      subcode: 2_207_004,
      message: 'The image size is too large.',
      user: { title: 'Image size too large', message: 'The image is too large to download. It should be less than 8 MiB.' },
    })
  return graphError({
    code: 36_001,
    subcode: 2_207_005,
    message: 'The image format is not supported.',
    user: { title: 'Image format not supported', message: 'The image format is not supported. Use JPEG.' },
  })
}

/** What is refused of a caption: more than 2,200 characters, 30 hashtags or 20 mentions. */
function wrongCaption(text: string): Reply | null {
  const hashtags = text.match(/#[\p{L}\p{N}_]+/gu) ?? []
  if ([...text].length > 2200 || hashtags.length > 30)
    return graphError({
      code: 36_004,
      subcode: 2_207_010,
      message: 'The caption is too long',
      user: { title: 'Caption too long', message: 'The caption was too long.' },
    })
  const mentions = text.match(/(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_.]+/gu) ?? []
  if (mentions.length <= 20) return null
  return graphError({
    code: 100,
    subcode: 2_207_040,
    message: 'Cannot use more than 20 tags per created media',
    user: { title: 'Too many tags', message: 'Cannot use more than 20 tags per created media.' },
  })
}

/**
 * Answers `POST /{user}/media`:
 * https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
 */
async function create({ world, parameters, account }: Asked): Promise<Reply> {
  const isItem = parameters.get('is_carousel_item') === 'true'
  const [imageUrl, videoUrl] = [parameters.get('image_url'), parameters.get('video_url')]
  const mediaType = parameters.get('media_type') ?? (imageUrl ? 'IMAGE' : '')
  const text = parameters.get('caption') ?? ''
  const wrong = wrongCaption(text)
  if (wrong) return wrong
  const made = { mediaType, text: isItem ? '' : text, isItem, inReplyToId: null }
  const says = { refuse, failed: (why: Untaken) => (why === 'unreachable' ? '2207052' : '2207026') }
  if (mediaType === 'CAROUSEL') {
    const ids = (parameters.get('children') ?? '').split(',').filter(Boolean)
    if (ids.length < 2 || ids.length > 10) return invalid('children', 'The carousel has 2 to 10 children')
    const children = ids.map(id => world.containers.get(id)).filter((one): one is Container => one?.accountId === account.id && one.isItem)
    if (children.length !== ids.length || children.some(child => statusOf(world, child) !== 'FINISHED'))
      return invalid('children', 'A child is no finished carousel item')
    return makeContainer(world, account, made, children, says)
  }
  if (mediaType === 'IMAGE' && imageUrl)
    return makeContainer(world, account, made, { url: imageUrl, altText: parameters.get('alt_text'), rules: image, isFilm: false }, says)
  // A film alone is a reel; VIDEO is the type of a film within a carousel.
  if (videoUrl && (mediaType === 'REELS' ? !isItem : mediaType === 'VIDEO' && isItem))
    return makeContainer(world, account, made, { url: videoUrl, altText: null, rules: film, isFilm: true }, says)
  return graphError({ code: 100, subcode: 2_207_023, message: `(#100) The media type ${mediaType || 'unknown'} is unknown, or lacks its address.` })
}

/** Answers `POST /{user}/media_publish`, which publishes a container. */
function publish({ world, parameters, account }: Asked): Reply | Promise<Reply> {
  const container = world.containers.get(parameters.get('creation_id') ?? '')
  if (container?.accountId !== account.id || container.isItem)
    return graphError({ code: 24, subcode: 2_207_006, message: 'The media with this ID cannot be found' })
  const status = statusOf(world, container)
  if (status === 'PUBLISHED') return graphError({ code: -1, subcode: 2_207_032, message: 'The media has been published already' })
  if (status === 'EXPIRED')
    return graphError({ code: -2, subcode: 2_207_020, message: 'The media you are trying to access has expired. Please try to upload again.' })
  if (status !== 'FINISHED')
    return graphError({
      code: 9007,
      subcode: 2_207_027,
      message: 'Media ID is not available',
      user: { title: 'Media not ready', message: 'The media is not ready for publishing, please wait for a moment' },
    })
  if (usageOf(world, account) >= mostADay)
    return graphError({
      code: 9,
      subcode: 2_207_042,
      message: 'Application request limit reached',
      user: { title: 'Limit reached', message: 'You reached maximum number of posts that is allowed to be published by Content Publishing API.' },
    })
  return spoilt(world.faults, world.name, { refuse: refusedByFault, take: () => publishContainer(world, container), account: account.username })
}
