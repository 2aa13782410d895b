import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { seedApps, seedPlatformApps } from '../catalog/seed.ts'
import { seedBundle } from '../commerce/seed.ts'

export const password = 'correct horse battery'
const auth = '/identity/api/auth'

/** A platform with people who have accounts, and with apps that they have installed or not. */
export interface LaunchStage extends AsyncDisposable {
  readonly graph: Supergraph
  readonly door: Door
  readonly owner: Viewer
  readonly peer: Viewer
  readonly organizationId: string
  launchApp(input: object, as?: Viewer): ReturnType<Supergraph['execute']>
  exchange(code: string | null, origin: string): ReturnType<Door['ask']>
  /** Signs a person in with a session that can end. */
  session(): Promise<{ readonly viewer: Viewer; readonly authorization: string }>
  serviceId(slug: string): Promise<string>
}

const launching = `mutation($input: LaunchAppInput!) { launchApp(input: $input) {
  id app title icon status source platform steps { kind url } expiresAt createdAt failure { code message retryable retryAfterSeconds } entry { id } } }`

/** Where publishing is: its pages, and where people arrive with a code. */
export const publishing = 'http://publishing.test'

export const ios = { platform: 'ios', appId: 'TEAM123456.test.publishing', storeUrl: 'https://store.test/publishing-ios', certificateFingerprints: [] }
export const android = {
  ...{ platform: 'android', appId: 'test.publishing', storeUrl: null },
  certificateFingerprints: [Array.from({ length: 32 }, () => 'AB').join(':')],
}

export async function launchStage(options: SupergraphOptions = {}): Promise<LaunchStage> {
  const graph = await supergraph({ now: new Date().toISOString(), ...options })
  const door = await openDoor(graph)
  const { users, organizations } = await graph.platform.identity.provision({
    password,
    people: ['owner', 'peer'].map(name => ({ email: `${name}@acme.test`, name })),
    organizations: [{ slug: 'acme', name: 'Acme', members: ['owner', 'peer'].map(name => ({ email: `${name}@acme.test`, roles: ['owner'] })) }],
    keys: [],
  } as never)
  const organizationId = organizations.acme!
  const of = (name: string): Viewer => ({ ...person(users[`${name}@acme.test`]!, organizationId, ['owner']), sessionId: null })
  const owner = of('owner')
  await graph.rows(`update identity.service_entries set addresses = addresses || $1::jsonb, mobile_apps = $2::jsonb where slug = 'publishing'`, [
    JSON.stringify({ web: publishing, callback: `${publishing}/callback` }),
    JSON.stringify([ios, android]),
  ])
  await seedPlatformApps(graph)
  await seedBundle(graph, organizationId, { holders: [owner.userId, users['peer@acme.test']!] })
  await seedApps(
    graph,
    { slug: 'route-finder', title: 'Route Finder', launchUrl: 'https://route-finder.test/home' },
    { slug: 'team-board', title: 'Team Board', initiateLoginUri: 'https://team-board.test/login', launchUrl: 'https://team-board.test/' },
    { slug: 'nowhere-app', title: 'Nowhere App' },
    { slug: 'address-check', title: 'Address Check', kind: 'technical' },
    { slug: 'day-planner', title: 'Day Planner', contexts: ['personal'], launchUrl: 'https://day-planner.test/' },
  )
  for (const app of ['publishing', 'agents', 'route-finder', 'team-board', 'nowhere-app'])
    (await graph.execute(`mutation { installApp(input: { app: "${app}" }) { id } }`, {}, { as: owner })).data()
  return {
    ...{ graph, door, owner, peer: of('peer'), organizationId },
    launchApp: (input, as = owner) => graph.execute(launching, { input: { source: 'CATALOGUE', ...input } }, { as }),
    exchange: (code, origin) => door.ask('POST', `${auth}/sso/exchange`, { headers: { origin }, body: { code } }),
    async session() {
      const { authorization } = await door.signIn('owner@acme.test', password)
      const who = { query: '{ viewer { session { id } } }' }
      const { json } = await door.ask('POST', '/graphql', { headers: { authorization }, body: who })
      return { viewer: { ...owner, sessionId: json.data.viewer.session.id }, authorization }
    },
    async serviceId(slug) {
      return (await graph.rows<{ id: string }>('select id from identity.service_entries where slug = $1', [slug]))[0]!.id
    },
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]()
      await graph[Symbol.asyncDispose]()
    },
  }
}
