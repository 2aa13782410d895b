import twitter from 'twitter-text'
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
  listed,
  noPath,
  noPermission,
  noToken,
  notThere,
  parametersOf,
  refusedByFault,
  shown,
} from '../meta/graph.ts'
import { exchangeCode, extend, idsFrom, lengthen, mannersOf, newClient } from '../meta/tokens.ts'

const scopes = {
  threads_basic: 'Read your profile and your own threads',
  threads_content_publish: 'Publish threads in your name',
  threads_read_replies: 'Read replies',
  threads_manage_replies: 'Write and hide replies',
  threads_manage_insights: 'Read figures of your threads',
} as const

const asked = ['threads_basic', 'threads_content_publish']

/** Posts within 24 hours: https://developers.facebook.com/docs/threads/overview#rate-limits */
const mostADay = 250
/** Different links in a post. */
const mostLinks = 5
/** Counts the different links of a post: words that begin with a scheme, and domains without one. */
function linksIn(text: string, link: string | null): number {
  const [words, rest] = [text.match(/https?:\/\/\S+/gi) ?? [], text.replaceAll(/https?:\/\/\S+/gi, ' ')]
  const links = words.map(word => word.replace(/[.,;:!?)\]}'"]+$/, ''))
  return new Set([...links, ...twitter.extractUrls(rest), ...(link === null ? [] : [link])]).size
}

const image = { types: ['image/jpeg', 'image/png'], mostBytes: 8 * 1024 * 1024 }
const film = { types: ['video/mp4', 'video/quicktime'], mostBytes: 1_000_000_000, film: filmRules.threads }

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** How Threads counts: an emoji as its bytes, all else by characters. */
const lengthOf = (text: string): number =>
  [...graphemes.segment(text)].reduce(
    (sum, { segment }) => sum + (/\p{Extended_Pictographic}|\p{Regional_Indicator}/u.test(segment) ? Buffer.byteLength(segment) : [...segment].length),
    0,
  )

interface Asked {
  readonly world: ContainerWorld
  readonly call: Call
  readonly parameters: URLSearchParams
  readonly account: Account
  readonly grant: Grant
}

/** Threads as it is played here: https://developers.facebook.com/docs/threads */
export const threads = {
  title: 'Threads',
  addresses: { authorizeUrl: '/oauth/authorize', apiUrl: '' },
  play(name, deps) {
    const world = openWorld(name, deps)
    return { network: networkOf(world), demo: demoOf(world, asked) }
  },
} satisfies Twin

function openWorld(name: string, deps: Deps): ContainerWorld {
  const behaviour = mannersOf({ title: 'Threads', scopes, tokenPrefix: 'THAA', redirectSuffix: '#_' })
  return {
    ...openOauth(name, deps, { behaviour, newIds: idsFrom('17901'), newClient }),
    containers: deps.state.collection(`${name}.containers`, 2000),
    published: deps.state.collection(`${name}.published`, 5000),
    long: deps.state.collection(`${name}.long`, 2000),
  }
}

function networkOf(world: ContainerWorld): Network {
  return {
    name: world.name,
    answer: call => answer(world, call),
    received: () => receivedOf(world),
    controls: { emit: emitter(world, ({ id }) => id) },
  }
}

function answer(world: ContainerWorld, call: Call): Reply | Promise<Reply> {
  const parameters = parametersOf(call)
  switch (`${call.method} ${call.path}`) {
    case 'GET /oauth/authorize':
    case 'POST /oauth/authorize':
      return authorize(world, call)
    case 'POST /oauth/access_token': {
      const given = exchangeCode(world, parameters)
      return 'status' in given ? given : json(200, { access_token: given.accessToken, user_id: given.grant.accountId }, 'granted')
    }
    case 'GET /access_token':
      if (parameters.get('grant_type') !== 'th_exchange_token') return invalid('grant_type')
      return lengthen(world, world.long, parameters.get('access_token'), parameters.get('client_secret'))
    case 'GET /refresh_access_token':
      if (parameters.get('grant_type') !== 'th_refresh_token') return invalid('grant_type')
      return extend(world, world.long, call, parameters.get('access_token'))
  }
  const [, node, edge] = /^\/v1\.0\/(\w+)(?:\/(\w+))?$/.exec(call.path) ?? []
  if (!node) return noPath(call.path)
  const { grant, account, fault } = whoShows(world, call, parameters.get('access_token') ?? bearerOf(call))
  if (!grant) return fault ? { ...noToken(), outcome: 'faulted', fault } : noToken()
  if (!grant.scopes.includes('threads_basic')) return noPermission('threads_basic')
  const asking: Asked = { world, call, parameters, account, grant }
  const isOwn = node === 'me' || node === account.id
  if (edge === undefined) return call.method === 'GET' ? readNode(asking, node, isOwn) : notThere(node, call.method.toLowerCase())
  if (!isOwn) return notThere(node, call.method.toLowerCase())
  return answerEdge(asking, edge)
}

function answerEdge(asking: Asked, edge: string): Reply | Promise<Reply> {
  const { world, call, account, grant } = asking
  const publishes = grant.scopes.includes('threads_content_publish')
  switch (`${call.method} ${edge}`) {
    case 'POST threads':
      return publishes ? create(asking) : noPermission('threads_content_publish')
    case 'POST threads_publish':
      return publishes ? publish(asking) : noPermission('threads_content_publish')
    case 'GET threads': {
      const { all, isLagging } = publishedBy(world, account)
      // Replies are in a list of their own.
      const reply = list(
        asking,
        all.filter(({ inReplyToId }) => inReplyToId === null),
      )
      return isLagging ? { ...reply, outcome: 'faulted', fault: 'listing-lag' } : reply
    }
    case 'GET replies':
      if (!grant.scopes.includes('threads_read_replies')) return noPermission('threads_read_replies')
      return list(
        asking,
        publishedBy(world, account).all.filter(({ inReplyToId }) => inReplyToId !== null),
      )
    case 'GET threads_publishing_limit':
      return publishes
        ? listed([
            shown(
              { quota_usage: usageOf(world, account), config: { quota_total: mostADay, quota_duration: 86_400 } },
              fieldsOf(asking.parameters, ['quota_usage']),
            ),
          ])
        : noPermission('threads_content_publish')
  }
  return noPath(`/${edge}`)
}

function readNode({ world, parameters, account }: Asked, node: string, isOwn: boolean): Reply {
  if (isOwn) {
    const fault = world.faults.take(world.name, ['profile-status'], account.username)
    if (fault) return { ...refusedByFault(fault), outcome: 'faulted', fault: 'profile-status' }
    const { id, username, name } = account
    const picture = `https://scontent.cdninstagram.com/${id}.jpg`
    return json(
      200,
      shown({ id, username, name, threads_profile_picture_url: picture, threads_biography: '', is_verified: false }, fieldsOf(parameters, [])),
      'read',
    )
  }
  const container = world.containers.get(node)
  if (container?.accountId === account.id) {
    const status = statusOf(world, container)
    return json(200, shown({ id: node, status, error_message: status === 'ERROR' ? container.error : null }, fieldsOf(parameters, ['status'])), 'read')
  }
  const published = world.published.get(node)
  return published ? json(200, mediumOf(world, published, fieldsOf(parameters, [])), 'read') : notThere(node)
}

const list = ({ world, parameters }: Asked, all: readonly Published[]): Reply => {
  const since = Number(parameters.get('since') ?? 0) * 1000
  const most = Math.min(100, Number(parameters.get('limit') ?? 25))
  const fields = fieldsOf(parameters, [])
  return listed(
    all
      .filter(({ createdAt }) => Date.parse(createdAt) >= since)
      .slice(0, most)
      .map(one => mediumOf(world, one, fields)),
  )
}

const types: Readonly<Record<string, string>> = { TEXT: 'TEXT_POST', CAROUSEL: 'CAROUSEL_ALBUM' }

const mediumOf = ({ accounts }: ContainerWorld, { id, accountId, text, createdAt, mediaType, inReplyToId }: Published, fields: ReadonlySet<string>): object => {
  const { username } = accounts.get(accountId)!
  const shortcode = shortcodeOf(id)
  const all = {
    id,
    text,
    username,
    shortcode,
    permalink: `https://www.threads.com/@${username}/post/${shortcode}`,
    timestamp: graphTime(createdAt),
    media_type: types[mediaType] ?? mediaType,
    media_product_type: 'THREADS',
    is_reply: inReplyToId !== null,
    replied_to: inReplyToId === null ? null : { id: inReplyToId },
  }
  return shown(all, fields)
}

/** https://developers.facebook.com/docs/threads/troubleshooting#publishing-does-not-return-a-media-id */
const failures: { readonly [Why in Untaken]?: string } = { unreachable: 'FAILED_DOWNLOADING_VIDEO', duration: 'INVALID_DURATION', shape: 'INVALID_ASPEC_RATIO' }

/** `POST /{user}/threads`: https://developers.facebook.com/docs/threads/posts#step-1--create-a-threads-media-container */
async function create({ world, parameters, account }: Asked): Promise<Reply> {
  const [mediaType, text] = [parameters.get('media_type') ?? '', parameters.get('text') ?? '']
  const isItem = parameters.get('is_carousel_item') === 'true'
  const inReplyToId = parameters.get('reply_to_id')
  if (lengthOf(text) > 500) return graphError({ code: 100, message: '(#100) Param text must be at most 500 characters long.' })
  if (inReplyToId !== null && !world.published.get(inReplyToId)) return notThere(inReplyToId, 'post')
  const link = parameters.get('link_attachment')
  if (link !== null && !/^https?:\/\/[^\s]+$/.test(link)) return invalid('link_attachment', 'Param link_attachment must be a valid URL')
  // https://developers.facebook.com/docs/threads/posts, since December 22, 2025
  if (linksIn(text, link) > mostLinks) return graphError({ code: 100, message: 'THREADS_API__LINK_LIMIT_EXCEEDED: A post has at most 5 links.' })
  const made = { mediaType, text, isItem, inReplyToId }
  const refuse = () =>
    graphError({
      code: 9004,
      subcode: 2_207_052,
      message: 'The media could not be fetched from this URI.',
      user: { title: 'Media download has failed', message: 'The media could not be fetched, or is of a type or size that is not supported.' },
    })
  const says = { refuse, failed: (why: Untaken) => failures[why] ?? 'FAILED_PROCESSING_VIDEO' }
  if (mediaType === 'TEXT') {
    if (!text) return invalid('text', 'The parameter text is required')
    if (isItem) return invalid('is_carousel_item')
    return makeContainer(world, account, { ...made, ...(link !== null && { link }) }, null, says)
  }
  if (link !== null) return invalid('link_attachment', 'link_attachment goes only with media_type TEXT')
  if (mediaType === 'IMAGE' || mediaType === 'VIDEO') {
    const name = mediaType === 'IMAGE' ? 'image_url' : 'video_url'
    const url = parameters.get(name)
    if (!url) return invalid(name, `The parameter ${name} is required`)
    return makeContainer(
      world,
      account,
      made,
      { url, altText: parameters.get('alt_text'), rules: mediaType === 'IMAGE' ? image : film, isFilm: mediaType === 'VIDEO' },
      says,
    )
  }
  if (mediaType !== 'CAROUSEL') return invalid('media_type', 'Param media_type must be one of {TEXT, IMAGE, VIDEO, CAROUSEL}')
  const ids = (parameters.get('children') ?? '').split(',').filter(Boolean)
  if (ids.length < 2 || ids.length > 20) return invalid('children', 'A carousel has 2 to 20 children')
  const children = ids.map(id => world.containers.get(id)).filter((one): one is Container => one?.accountId === account.id && one.isItem)
  if (children.length !== ids.length || children.some(child => statusOf(world, child) !== 'FINISHED'))
    return invalid('children', 'A child is no finished carousel item')
  return makeContainer(world, account, made, children, says)
}

/** `POST /{user}/threads_publish`, which makes it public. */
function publish({ world, parameters, account }: Asked): Reply | Promise<Reply> {
  const container = world.containers.get(parameters.get('creation_id') ?? '')
  if (container?.accountId !== account.id || container.isItem) return invalid('creation_id')
  const status = statusOf(world, container)
  if (status === 'PUBLISHED') return invalid('creation_id', 'The media has been published already')
  if (status !== 'FINISHED')
    return graphError({
      code: 9007,
      subcode: 2_207_027,
      message: 'Media ID is not available',
      user: { title: 'Media Not Ready', message: 'The media is not ready for publishing, please wait for a moment' },
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
