import { spoilt } from '../../faults.ts'
import type { Call, Deps, Network, Reply, Twin } from '../../network.ts'
import { json } from '../../network.ts'
import { bearerOf, revokeAccount } from '../../oauth/grants.ts'
import { demoOf, openOauth } from '../../oauth/open.ts'
import { authorize } from '../../oauth/server.ts'
import { emitter } from '../meta/emit.ts'
import {
  fieldsOf,
  graphError,
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
import { exchangeCode, idsFrom, lengthen, mannersOf, newClient, shortLife } from '../meta/tokens.ts'
import { groupOf, pagesOf, placeWithId } from './places.ts'
import { attachPhoto, comment, post, readComments, readObject, readPosts, video } from './posts.ts'
import { type Asked, type FacebookWorld, pageTokenFor, whoAsks } from './world.ts'

const scopes = {
  public_profile: 'See your name',
  pages_show_list: 'See the list of your pages',
  pages_manage_posts: 'Publish on your pages',
  pages_read_engagement: 'Read what is on your pages',
  pages_manage_engagement: 'Comment on your pages',
  business_management: 'See your businesses',
  read_insights: 'Read figures of your pages',
  publish_to_groups: 'Publish in your groups',
} as const

const asked = ['pages_show_list', 'pages_manage_posts', 'pages_read_engagement', 'pages_manage_engagement', 'business_management', 'publish_to_groups']

/** Stand-in for Facebook's pages and groups: https://developers.facebook.com/docs/pages-api */
export const facebook = {
  title: 'Facebook',
  addresses: { authorizeUrl: '', apiUrl: '' },
  settings: { version: 'v25.0', groupsEnabled: '1' },
  play(name, deps) {
    const world = openWorld(name, deps)
    return { network: networkOf(world), demo: demoOf(world, asked) }
  },
} satisfies Twin

function openWorld(name: string, deps: Deps): FacebookWorld {
  const behaviour = mannersOf({ title: 'Facebook', scopes, tokenPrefix: 'EAAG', redirectSuffix: '#_=_' })
  return {
    ...openOauth(name, deps, { behaviour, newIds: idsFrom('10229'), newClient }),
    long: deps.state.collection(`${name}.long`, 2000),
    pageTokens: deps.state.collection(`${name}.pageTokens`, 4000),
    photos: deps.state.collection(`${name}.photos`, 2000),
    posts: deps.state.collection(`${name}.posts`, 5000),
  }
}

function networkOf(world: FacebookWorld): Network {
  return {
    name: world.name,
    // The longest text allowed, each byte of it encoded as `%F0`.
    takes: { mostBytes: 1024 * 1024 },
    answer: call => answer(world, call),
    received: () =>
      [...world.posts.values()].map(({ id, createdAt, text, link, accountId, place, media, inReplyToId }) => ({
        receivedAt: createdAt,
        id,
        text,
        ...(link && { link }),
        target: place,
        account: { id: accountId, username: world.accounts.get(accountId)!.username },
        media,
        inReplyToId,
        deletedAt: null,
      })),
    controls: { emit: emitter(world, ({ id }) => id) },
  }
}

function answer(world: FacebookWorld, call: Call): Reply | Promise<Reply> {
  const [, version, path = ''] = /^\/(v\d+\.\d)(\/.*)$/.exec(call.path) ?? []
  if (!version) return noPath(call.path)
  if (!knowsVersion(version)) return noVersion(version)
  const parameters = parametersOf(call)
  if (path === '/dialog/oauth') return authorize(world, call)
  if (`${call.method} ${path}` === 'GET /oauth/access_token') return token(world, parameters)
  const [, node, edge] = /^\/(\w+)(?:\/(\w+))?$/.exec(path) ?? []
  if (!node) return noPath(path)
  const who = whoAsks(world, call, parameters.get('access_token') ?? bearerOf(call))
  if (!('account' in who)) return who.fault ? { ...noToken(), outcome: 'faulted', fault: who.fault } : noToken()
  const asking: Asked = { world, call, parameters, ...who }
  if (node === 'me' || node === who.account.id) return ofMe(asking, edge)
  const place = placeWithId(who.account, node)
  if (place) return ofPlace(asking, place, edge)
  return ofObject(asking, node, edge)
}

/**
 * Issues tokens: https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow#confirm, and
 * guides/access-tokens/get-long-lived
 */
function token(world: FacebookWorld, parameters: URLSearchParams): Reply {
  if (parameters.get('grant_type') === 'fb_exchange_token') {
    if (world.clients.get(parameters.get('client_id') ?? '') === undefined) return invalid('client_id')
    return lengthen(world, world.long, parameters.get('fb_exchange_token'), parameters.get('client_secret'))
  }
  const given = exchangeCode(world, parameters)
  return 'status' in given ? given : json(200, { access_token: given.accessToken, token_type: 'bearer', expires_in: shortLife }, 'granted')
}

function ofMe({ world, call, parameters, account, grant, pageId }: Asked, edge: string | undefined): Reply {
  // With a page's token, `me` is the page.
  if (pageId !== null) return notThere('me')
  const has = (scope: string) => grant.scopes.includes(scope)
  switch (`${call.method} ${edge ?? ''}`) {
    case 'GET ': {
      const fault = world.faults.take(world.name, ['profile-status'], account.username)
      if (fault) return { ...refusedByFault(fault), outcome: 'faulted', fault: 'profile-status' }
      const picture = { data: { url: `https://platform-lookaside.fbsbx.com/${account.id}.jpg`, is_silhouette: false } }
      return json(200, shown({ id: account.id, name: account.name, picture }, fieldsOf(parameters, ['name'])), 'read')
    }
    case 'GET accounts':
      if (!has('pages_show_list')) return noPermission('pages_show_list')
      return listed(
        pagesOf(account).map(page =>
          shown(
            {
              id: page.id,
              name: page.name,
              category: 'Brand',
              access_token: pageTokenFor(world, grant, page.id),
              tasks: ['CREATE_CONTENT', 'MODERATE', 'MANAGE'],
            },
            fieldsOf(parameters, ['name', 'category', 'access_token', 'tasks']),
          ),
        ),
      )
    case 'GET groups': {
      if (!has('publish_to_groups')) return noPermission('publish_to_groups')
      const group = groupOf(account)
      return listed([shown({ id: group.id, name: group.name, administrator: true, privacy: 'CLOSED' }, fieldsOf(parameters, ['name', 'privacy']))])
    }
    case 'GET permissions':
      return listed(grant.scopes.map(permission => ({ permission, status: 'granted' })))
    case 'DELETE permissions':
      revokeAccount(world, account.id)
      return json(200, { success: true }, 'granted')
  }
  return noPath(`/me/${edge}`)
}

function ofPlace(asking: Asked, place: NonNullable<ReturnType<typeof placeWithId>>, edge: string | undefined): Reply | Promise<Reply> {
  const { world, call, parameters, grant, account, pageId } = asking
  const isPage = place.kind === 'page'
  if (!edge) {
    if (call.method !== 'GET') return notThere(place.id, call.method.toLowerCase())
    return json(200, shown({ id: place.id, name: place.name, ...(isPage && { followers_count: 42, fan_count: 40 }) }, fieldsOf(parameters, ['name'])), 'read')
  }
  if (call.method === 'GET') {
    if (isPage && !grant.scopes.includes('pages_read_engagement')) return noPermission('pages_read_engagement')
    return ['published_posts', 'feed', 'videos'].includes(edge) && isPage ? readPosts(asking, place, edge) : noPath(`/${edge}`)
  }
  if (call.method !== 'POST') return notThere(place.id, call.method.toLowerCase())
  // https://developers.facebook.com/docs/pages-api/posts#before-you-start: as the page, by its own token.
  if (isPage && pageId !== place.id)
    return graphError({
      code: 200,
      status: 403,
      message: '(#200) If posting to a page, requires both pages_read_engagement and pages_manage_posts as an admin with sufficient administrative permission',
    })
  const scope = isPage ? 'pages_manage_posts' : 'publish_to_groups'
  if (!grant.scopes.includes(scope)) return noPermission(scope)
  const spoil = (take: () => Reply | Promise<Reply>) => spoilt(world.faults, world.name, { refuse: refusedByFault, take, account: account.username })
  if (edge === 'photos') return attachPhoto(asking)
  if (edge === 'feed') return post(asking, place, spoil)
  if (edge === 'videos') return video(asking, place, spoil)
  return noPath(`/${edge}`)
}

function ofObject(asking: Asked, id: string, edge: string | undefined): Reply | Promise<Reply> {
  const { call, grant } = asking
  if (call.method === 'GET') {
    if (edge === 'comments') return readComments(asking, id)
    if (edge === 'insights') return grant.scopes.includes('read_insights') ? listed([]) : noPermission('read_insights')
    return edge ? noPath(`/${edge}`) : readObject(asking, id)
  }
  if (call.method === 'POST' && edge === 'comments') return comment(asking, id)
  return notThere(id, call.method.toLowerCase())
}
