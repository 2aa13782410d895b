import type { Call, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import type { Account } from '../../oauth/world.ts'
import { keysIn, pageOf } from './parameters.ts'
import { denied, invalid, problem } from './problems.ts'
import { mayActAs, organizationsOf, organizationUrn, personUrn, type World } from './world.ts'

/**
 * Answers `GET /v2/userinfo` with the person whom the token belongs to.
 * https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
 */
export function findUserinfo({ demo }: World, _call: Call, { id, name, username }: Account): Reply {
  const [given, ...family] = name.split(' ')
  const body = {
    sub: id,
    email_verified: true,
    name,
    locale: { country: 'US', language: 'en' },
    given_name: given,
    family_name: family.join(' '),
    email: `${username}@${id === demo.account().id ? 'demo' : 'sandbox'}.test`,
    picture: `https://media.licdn.com/dms/image/${id}/profile-displayphoto-shrink_100_100/0`,
  }
  return json(200, body, 'read')
}

/** Answers `GET /v2/me`: https://learn.microsoft.com/linkedin/shared/integrations/people/profile-api */
export function findMe(_world: World, _call: Call, { id, name, username }: Account): Reply {
  const [given, ...family] = name.split(' ')
  return json(200, { id, localizedFirstName: given, localizedLastName: family.join(' '), vanityName: username.replaceAll('_', '-') }, 'read')
}

/** Answers `GET /rest/organizationAcls?q=roleAssignee` with the person's roles. */
export function listRoles(world: World, call: Call, account: Account): Reply {
  const { query } = call
  if (query.get('q') !== 'roleAssignee') return invalid('q', 'Finder is not found: expected roleAssignee')
  const [role, state] = [query.get('role') ?? 'ADMINISTRATOR', query.get('state') ?? 'APPROVED']
  const roles = organizationsOf(world, account)
    .map(organization => ({ role: 'ADMINISTRATOR', organization: organizationUrn(organization), roleAssignee: personUrn(account), state: 'APPROVED' }))
    .filter(each => each.role === role && each.state === state)
  return json(200, pageOf(call, roles), 'read')
}

/** Answers `GET /rest/organizations?ids=List(…)` with the organizations that the person administers, by number. */
export function findOrganizations(world: World, call: Call, account: Account): Reply {
  const ids = keysIn(call)
  if (!ids) return invalid('ids', 'expected List(1,2)')
  const mine = organizationsOf(world, account)
  const found = ids.flatMap(id => mine.find(each => each.id === id) ?? [])
  const results = Object.fromEntries(
    found.map(({ id, name, vanityName }) => [id, { id: Number(id), localizedName: name, vanityName, primaryOrganizationType: 'NONE' }]),
  )
  const missing = ids.filter(id => !Object.hasOwn(results, id))
  const errors = Object.fromEntries(missing.map(id => [id, { status: 403, message: 'Viewer is not authorized to access the organization' }]))
  return json(200, { results, statuses: Object.fromEntries(Object.keys(results).map(id => [id, 200])), errors }, 'read')
}

/** Answers `GET /rest/organizationalEntityShareStatistics` with the counts of an organization's posts. */
export function listStatistics(world: World, call: Call, account: Account): Reply {
  const { query } = call
  const entity = query.get('organizationalEntity') ?? ''
  if (query.get('q') !== 'organizationalEntity' || !entity) return invalid('q', 'expected organizationalEntity with its URN')
  if (!mayActAs(world, account, entity)) return denied('organizationalEntityShareStatistics')
  const asked = [...(keysIn(call, 'shares') ?? []), ...(keysIn(call, 'ugcPosts') ?? [])]
  const elements = asked.flatMap(urn => {
    const post = world.posts.get(urn)
    if (!post || post.deletedAt !== null || post.author !== entity) return []
    const comments = [...world.posts.values()].filter(({ under, deletedAt }) => under === urn && deletedAt === null).length
    const totalShareStatistics = {
      uniqueImpressionsCount: 7,
      shareCount: 0,
      engagement: 0.1,
      clickCount: 1,
      likeCount: 2,
      impressionCount: 10,
      commentCount: comments,
    }
    return [{ totalShareStatistics, organizationalEntity: entity, [urn.startsWith('urn:li:ugcPost') ? 'ugcPost' : 'share']: urn }]
  })
  return json(200, pageOf(call, elements), 'read')
}

/** Answers `GET /rest/networkSizes/:organization` with the organization's number of followers. */
export function findSize(world: World, call: Call, account: Account, urn: string): Reply {
  if (call.query.get('edgeType') !== 'COMPANY_FOLLOWED_BY_MEMBER') return invalid('edgeType', 'expected COMPANY_FOLLOWED_BY_MEMBER')
  return mayActAs(world, account, urn) ? json(200, { firstDegreeSize: 42 }, 'read') : problem(404)
}
