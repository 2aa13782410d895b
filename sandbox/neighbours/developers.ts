import { randomUUID } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { iconOf, type StoreApp, storeApps } from './store-apps.ts'
import { openViewerTokens } from './viewer-token.ts'

interface Artifact {
  readonly platform: 'android' | 'ios'
  readonly identifier: string
  readonly version: string
  readonly build: string
  readonly status: 'released' | 'testing'
  readonly url: string
  readonly sha256: string
  readonly bytes: number
  readonly minimumOs: string
  readonly releasedAt: string
  readonly storeUrl: string | null
}

/** The files of one app for one kind of phone, as the platform publishes them. */
const artifact = (platform: Artifact['platform'], identifier: string, digit: string, more: Partial<Artifact> = {}): Artifact => ({
  ...{ platform, identifier, version: '3.2.0', build: '3200', status: 'released', sha256: digit.repeat(64), bytes: 48_200_000 },
  url: `https://downloads.developers.example/${identifier}/3.2.0.${platform === 'android' ? 'apk' : 'ipa'}`,
  ...{ minimumOs: platform === 'android' ? '10' : '16.0', releasedAt: '2026-03-02T09:00:00.000Z' },
  storeUrl: platform === 'android' ? `https://play.google.com/store/apps/details?id=${identifier}` : 'https://apps.apple.com/app/id1234567890',
  ...more,
})

const apps = [
  {
    ...{ id: 'app-one', name: 'Supergraph One', publisher: 'Supergraph' },
    artifacts: [artifact('android', 'com.example.supergraph.one', 'a'), artifact('ios', 'com.example.supergraph.one', 'b')],
  },
  {
    ...{ id: 'app-field', name: 'Supergraph Field', publisher: 'Supergraph' },
    artifacts: [artifact('android', 'com.example.supergraph.field', 'c', { version: '1.0.4', status: 'testing', storeUrl: null })],
  },
]

/** Stand-in for the developer platform: it lists mobile apps, the apps of its store with their icons, and the ids of organizations that own one. */
export const developers: Vendor = { title: 'the developer platform', play }

function play(name: string, deps: Deps): Network {
  const { state, faults, origin, clock, endpoints } = deps
  const claimsOf = openViewerTokens(endpoints.apps.url, clock)
  /** Ids of organizations, by their slug, as the platform knows them. */
  const owners = state.collection<string>(`${name}.organizations`, 100)

  const shown = ({ audience, ownedBy, ...app }: StoreApp) => ({
    ...app,
    organizationId: ownedBy === null ? null : (owners.get(ownedBy) ?? null),
    icon: `${origin()}/${name}/icons/${app.slug}.svg`,
    widget: audience && { url: `${origin()}/apps/${app.slug}/api/widget`, audience },
    jwksUrl: `${origin()}/apps/${app.slug}/.well-known/jwks.json`,
    launchUrl: `${origin()}/apps/${app.slug}/`,
    initiateLoginUri: withLogin.has(app.slug) ? `${origin()}/apps/${app.slug}/login` : null,
    mobileApps: [],
    screenshots: [`${origin()}/${name}/icons/${app.slug}.svg`],
  })
  /** Apps of organizations that the platform does not know are not there. */
  const catalogue = () => storeApps.filter(({ ownedBy }) => ownedBy === null || owners.get(ownedBy) !== undefined)
  const inStore = () => storeApps.filter(({ ownedBy, kind }) => ownedBy === null && kind === 'application')

  async function mobileApps(call: Call, id: string | undefined): Promise<Reply> {
    const caller = callerOf(call)
    if (caller.serviceId === null || caller.appId === null) return { ...refuse(401, 'X-Service-Id and X-App-Id have to say who calls.'), caller }
    const app = apps.find(each => each.id === id)
    if (id !== undefined && !app) return { ...refuse(404, 'There is no such app.'), caller }
    return { ...(await answered(call, () => json(200, app ?? { apps }, 'read'))), caller }
  }

  const answered = (call: Call, take: () => Reply) =>
    spoilt(faults, name, { refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'), take, path: call.path })

  function storeAt(path: string, query: URLSearchParams): Reply | null {
    if (path === '/api/catalogue')
      return json(
        200,
        { apps: catalogue().map(shown), icons: Object.fromEntries(platformIcons.map(slug => [slug, `${origin()}/${name}/icons/${slug}.svg`])) },
        'read',
      )
    if (path === '/api/store/apps') return json(200, { apps: inStore().map(shown) }, 'read')
    if (path === '/api/store/search') return json(200, { apps: searched(inStore(), query.get('q') ?? '').map(shown) }, 'read')
    const [, slug] = /^\/api\/store\/apps\/([\w-]+)$/.exec(path) ?? []
    const [, icon] = /^\/icons\/([\w-]+)\.svg$/.exec(path) ?? []
    if (icon !== undefined) {
      const title = storeApps.find(each => each.slug === icon)?.title ?? (platformIcons.includes(icon) ? icon.toUpperCase() : null)
      return title === null ? null : { status: 200, headers: { 'content-type': 'image/svg+xml' }, body: iconOf({ title }), outcome: 'read' }
    }
    const app = inStore().find(each => each.slug === slug)
    return app ? json(200, shown(app), 'read') : null
  }

  /** What a customer bought: the rows are played for whoever the token names. */
  async function commerce(call: Call): Promise<Reply> {
    const claims = await claimsOf(call)
    if (claims?.aud !== 'developers') return refuse(401, 'The token is missing, forged, expired or for somebody else.')
    const { sub: userId = null, org: organizationId = null } = claims
    if (call.path === '/api/commerce/orders') {
      if (call.method === 'GET') return answered(call, () => json(200, { orders: [], userId, organizationId }, 'read'))
      if (call.method === 'POST') return answered(call, () => json(201, { id: randomUUID(), userId, organizationId, bytes: call.size }, 'read'))
    }
    return refuse(404, 'Not found.')
  }

  const noted = (call: Call, reply: Reply): Reply => ({ ...reply, headerNames: Object.keys(call.headers).sort() })

  async function answerOf(call: Call): Promise<Reply> {
    if (call.path.startsWith('/api/commerce/')) return commerce(call)
    if (call.method !== 'GET') return refuse(404, 'Not found.')
    const path = /^\/api\/mobile-apps(?:\/([\w-]+))?$/.exec(call.path)
    if (path) return mobileApps(call, path[1])
    const found = storeAt(call.path, call.query)
    return found ? answered(call, () => found) : refuse(404, 'Not found.')
  }

  return {
    name,
    received: () => [],
    controls: {
      objects({ object, slug, id }) {
        if (object !== 'organization' || typeof slug !== 'string' || typeof id !== 'string')
          return 'An object of developers is { object: "organization", slug, id }.'
        owners.set(slug, id)
        state.commit()
        return { slug, id }
      },
    },
    answer: async call => noted(call, await answerOf(call)),
  }
}

/** Apps at which a sign-in can be begun; the others have only an address. */
const withLogin: ReadonlySet<string> = new Set(['route-finder', 'team-board'])

/** Services of the platform whose icons lie here. */
const platformIcons: readonly string[] = ['launcher', 'publishing', 'agents', 'payments', 'providers']

/** A plain search: apps with every word in title or summary. Typing errors find nothing here. */
function searched(apps: readonly StoreApp[], query: string): readonly StoreApp[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return apps.filter(({ title, summary }) => words.length > 0 && words.every(word => `${title} ${summary}`.toLowerCase().includes(word)))
}

const callerOf = ({ headers }: Call): NonNullable<Reply['caller']> => ({
  serviceId: [headers['x-service-id'] ?? null].flat()[0] ?? null,
  appId: [headers['x-app-id'] ?? null].flat()[0] ?? null,
})

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })
