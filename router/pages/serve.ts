import type { FastifyInstance } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import type { Slug } from '../../subgraphs/scopes.ts'
import { apps } from '../../web/serve/apps.ts'
import { houseTokens } from '../../web/serve/house.ts'
import type { Found } from '../door/health.ts'
import type { Variants } from '../engine/graph/variants.ts'
import type { Hosts } from '../hosts.ts'
import type { RouteTable } from '../rest/row.ts'
import { type Asset, ownFile, serveAssets } from './assets.ts'
import { serveExplorer } from './explorer.ts'
import { serveGraphReference } from './graph.ts'
import type { ShownUse } from './graph-use.ts'
import { type DemoAccounts, type HomeNeeds, type Place, type ShownService, serveHome, type Workspace } from './home.ts'
import { icons } from './icons.ts'
import { assets, createSendPage } from './layout.ts'
import { serveReference } from './reference.ts'

/** A service that runs in this process or beside it. */
export type RunningService = Pick<ShownService, 'slug' | 'title' | 'ready'>

export interface PagesNeeds {
  readonly hosts: Hosts
  readonly publicUrl: string
  readonly production: boolean
  readonly schema: GraphQLSchema
  /** Variants of the graph. @default none */
  readonly variants?: Variants | undefined
  readonly tables: readonly RouteTable[]
  /** Whether the graph is the platform's own; another supergraph has no REST routes and no reference. */
  readonly isOurs: boolean
  readonly services: readonly RunningService[]
  readonly demo: DemoAccounts | null
  readonly sandbox: string | null
  /** The issuer at which people sign in; null when it is the platform. */
  readonly foreignIssuer: string | null
  /** Returns the person who is signed in with a browser. @default none */
  readonly signedIn?: HomeNeeds['signedIn']
  /** What clients use of the graph. @default not shown */
  readonly use?: ShownUse | undefined
  look(): Promise<readonly Found[]>
  /** Redirects a browser from `/` of a service's own host. @default none */
  readonly start?: HomeNeeds['start']
}

const style: Asset = { path: `${assets}/house.css`, type: 'text/css', load: async () => `${houseTokens()}${await ownFile('house.css')()}` }
/** Script that submits the form of a person who is signed in already, so that opening a service takes no click. */
const goOn: Asset = { path: `${assets}/go-on.js`, type: 'text/javascript', load: ownFile('go-on.js') }

/**
 * Serves the pages of the platform. None of them loads anything from other origins. In production there is neither
 * explorer nor graph reference, because production does not publish its schema.
 */
export function servePages(app: FastifyInstance, needs: PagesNeeds): void {
  const { hosts, publicUrl, production, schema, variants, services, tables, isOurs } = needs
  const routed = tables.map(({ slug }) => slug)
  const send = createSendPage([
    ['/', 'Overview'],
    ...(production ? [] : ([['/explorer', 'GraphQL explorer']] as const)),
    ...(isOurs && !production ? ([['/docs/graph', 'Graph']] as const) : []),
    ...(isOurs ? ([['/docs', 'REST']] as const) : []),
  ])
  serveAssets(app, isOurs ? [style, goOn, ...icons] : [style])
  serveHome(
    app,
    {
      look: needs.look,
      signedIn: needs.signedIn,
      start: needs.start,
      demo: needs.demo,
      places: placesOf(needs),
      workspaces: isOurs ? apps.map(({ app, start }) => workspaceOf(hosts, services, app, start)).filter(each => each !== null) : [],
      services: services.map(service => ({ ...service, origin: hosts.originOf(service.slug), hasRoutes: routed.includes(service.slug) })),
    },
    send,
  )
  if (!production) serveExplorer(app, send, variants?.names ?? [])
  if (isOurs) serveReference(app, { hosts, services: routed, publicUrl }, send)
  if (isOurs && !production) serveGraphReference(app, { schema, variants }, send, needs.use)
}

/** Returns a workspace for the overview; null when its service does not run here. */
function workspaceOf(hosts: Hosts, services: PagesNeeds['services'], slug: Slug, start: string): Workspace | null {
  const service = services.find(each => each.slug === slug)
  return service ? { title: service.title, address: hosts.addressOf(slug, 'web', start) } : null
}

function placesOf({ production, sandbox, isOurs, foreignIssuer }: PagesNeeds): readonly Place[] {
  const place = (name: string, address: string, what: string, shown = true): readonly Place[] => (shown ? [{ name, address, what }] : [])
  return [
    ...place(
      'GraphQL',
      '/graphql',
      production
        ? 'for every client, over HTTP and WebSocket'
        : 'for every client, over HTTP and WebSocket; in a browser Apollo Sandbox, which is loaded from Apollo',
    ),
    ...place('GraphQL explorer', '/explorer', 'GraphiQL, served from here: queries, subscriptions, history, documentation', !production),
    ...place('Reference of the graph', '/docs/graph', 'types and fields, and who may see them', isOurs && !production),
    ...place('Reference of REST', '/docs', 'every route, to be tried', isOurs),
    ...place('OpenAPI', '/openapi.json', 'the same for programs', isOurs),
    ...place('Sign in', '/identity/login', 'with the mail address and password of an account', isOurs && foreignIssuer === null),
    ...place('Sign in', foreignIssuer ?? '', 'elsewhere: people come with a token of this issuer', isOurs && foreignIssuer !== null),
    ...place('Health', '/health/ready', isOurs ? 'whether everything behind it works' : 'whether it takes requests'),
    ...place('Metrics', '/metrics', 'figures for Prometheus; from this machine, or with a token'),
    ...place(
      'Sandbox',
      sandbox ?? '',
      'plays networks, vendors of models, a payment processor, a mail server and DNS, and shows what each of them got',
      sandbox !== null,
    ),
  ]
}
