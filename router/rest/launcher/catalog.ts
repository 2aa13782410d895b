import { nounRoutes } from '../derive/route.ts'
import type { Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const entry = `
  id app title summary description category publisher icon kind launchable contexts capabilities origin lifecycle widgetAudience
  mobileApps { platform storeUrl } screenshots status statusUntil installed entitled installationId: installation { id }`
const installation = 'id app context organizationId: organization { id } installedById: installedBy { id } installedAt removedAt version'
const request = 'id app reason status requestedById: requestedBy { id } decidedById: decidedBy { id } comment createdAt decidedAt version'

const operations = nounRoutes({
  select: { CatalogEntry: entry, Installation: installation, AccessRequest: request },
  routes: {
    'GET /api/apps': { run: 'catalogEntries', list: 'apps' },
    'GET /api/apps/:app': 'catalogEntry',
    'PUT /api/apps/:app/installation': { run: 'installApp', mayBeEmpty: true },
    'DELETE /api/apps/:app/installation': 'uninstallApp',
    'GET /api/installations': 'installations',
    'GET /api/access-requests': 'accessRequests',
    'POST /api/access-requests': { run: 'requestAccess', status: 201, location: null },
    'POST /api/access-requests/:id/decision': 'decideAccessRequest',
    'POST /api/access-requests/:id/withdrawal': { run: 'withdrawAccessRequest', mayBeEmpty: true },
  },
})

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const maybe = { type: ['string', 'null'] } as const
const object = (properties: Readonly<Record<string, JsonSchema>>) => ({ type: 'object', properties, required: Object.keys(properties) })
const app = object({
  ...{ app: text, title: text, summary: maybe, description: maybe, category: maybe, publisher: maybe, icon: text },
  ...{ contexts: texts, capabilities: texts, screenshots: texts, version: maybe },
})
const apps = { type: 'array', items: app } as const
const source = { type: 'string', enum: ['developers', 'local'], description: 'Whether the developer platform answered, or our copy of its catalogue.' } as const

const row = {
  ...{ kind: 'forward', method: 'GET', limit: 0, to: 'launcher', why: 'own answer' },
  access: { public: 'The store is public.' },
} as const satisfies Partial<ForwardRow>

const listed: Documented = {
  name: 'listStoreApps',
  does: 'Lists apps of the store by title.',
  query: { category: 'Only those of this category.', first: '1 to 100, 20 by itself.', after: 'The `nextCursor` of the page before.' },
  answers: {
    200: { description: 'A page of apps.', schema: object({ apps, nextCursor: maybe, totalCount: { type: 'integer' }, source }) },
  },
}
const searched: Documented = {
  name: 'searchStoreApps',
  does: 'Searches the store by words, their beginnings and with typing errors, the best first.',
  query: { q: 'The words, at most 200 characters.' },
  answers: { 200: { description: 'What was found.', schema: object({ apps, source }) } },
}
const one: Documented = {
  name: 'readStoreApp',
  does: 'Shows one app of the store.',
  params: { app: 'The slug of the app.' },
  refuses: [404],
  answers: { 200: { description: 'The app.', schema: app } },
}
const icon: Documented = {
  name: 'readAppIcon',
  does: 'The icon of an app: that of the developer platform, or a plain one of ours.',
  params: { app: 'The slug of the app.' },
  refuses: [404],
  answers: { 200: { description: 'The picture; one of ours is a drawing.', type: 'image/svg+xml', schema: text } },
}

const store: readonly Row[] = [
  { ...row, path: '/api/store/apps', describes: [listed] },
  { ...row, path: '/api/store/search', describes: [searched] },
  { ...row, path: '/api/store/apps/:app', describes: [one] },
  { ...row, path: '/icons/:app', why: 'stream', access: { public: 'An icon is shown by every page that names the app.' }, describes: [icon] },
]

const shop: Row = {
  ...{ kind: 'forward', method: '*', path: '/api/commerce/*', role: 'web', access: { policy: 'person' }, limit: 256 * 1024, to: 'launcher' },
  ...{ why: 'foreign handler', timeoutMs: 35_000, describes: { nothing: 'The developer platform documents the rows of its shop.' } },
}

export const catalogRows: readonly Row[] = [...operations, ...store, shop]
