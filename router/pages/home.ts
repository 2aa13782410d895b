import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { escaped } from '../../subgraphs/http/html.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { prefersHtml } from '../door/headers.ts'
import type { Found } from '../door/health.ts'
import type { SendPage } from './layout.ts'
import type { createSignedIn, SignedIn } from './signed-in.ts'

/** A service on the overview page. */
export interface ShownService {
  readonly slug: Slug
  readonly title: string
  /** Address of the service besides the prefix; null if it has none. */
  readonly origin: string | null
  /** Whether the service has REST routes. */
  readonly hasRoutes: boolean
  /** Rejects while the service does not work; without it the page shows the readiness check of the same name. */
  ready?(): Promise<void>
}

/** A place that the page leads to. */
export interface Place {
  readonly name: string
  /** A path of the host where the page is, or an address. */
  readonly address: string
  /** What the place offers, in a few words. */
  readonly what: string
}

/** Accounts to try the platform with, shown to people at this machine. */
export interface DemoAccounts {
  readonly accounts: readonly string[]
  readonly password: string
}

/** A workspace that a person opens. */
export interface Workspace {
  readonly title: string
  readonly address: string
}

export interface HomeNeeds {
  /** Workspaces whose pages are served, in display order. @default none */
  readonly workspaces?: readonly Workspace[]
  readonly services: readonly ShownService[]
  readonly places: readonly Place[]
  readonly demo: DemoAccounts | null
  /** Returns the person who is signed in with the requesting browser. @default none */
  readonly signedIn?: ReturnType<typeof createSignedIn> | undefined
  /** Returns the present result of the readiness checks. */
  look(): Promise<readonly Found[]>
  /**
   * Redirects a browser from `/` of a service's own host; null where that shows the overview too. @default every host
   * does
   */
  start?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply | null) | undefined
}

/**
 * Serves the overview at `/`: a page with the platform's state for browsers, and the list of places as JSON for
 * programs.
 */
export function serveHome(app: FastifyInstance, { services, places, workspaces = [], demo, signedIn, look, start }: HomeNeeds, sendPage: SendPage): void {
  app.get('/', async (request, reply) => {
    if (!prefersHtml(request.headers.accept)) return reply.send({ places })
    const led = start?.(request, reply)
    if (led) return led
    const [found, person] = await Promise.all([look(), signedIn?.(request).catch(() => null)])
    const states = await Promise.all(services.map(service => stateOf(service, found)))
    const rows = services.map((service, at) => serviceRow(service, states[at]!))
    const content = `<h1>Supergraph</h1>
${person ? greeting(person) : ''}${workspaces.length > 0 ? `<h2>Workspaces</h2>\n<ul class="workspaces">${workspaces.map(workspaceItem).join('\n')}</ul>\n<h2>Tools</h2>\n` : ''}<p>${services.length > 0 ? `One graph of ${services.length} services, and the REST routes beside it.` : 'A graph.'} Programs ask it; a person finds here:</p>
<ul>${places.map(placeItem).join('\n')}</ul>
${services.length > 0 ? `<h2>Services</h2>\n<div class="wide"><table><thead><tr><th scope="col">Service</th><th scope="col">State</th><th scope="col">REST</th><th scope="col">Address</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>` : ''}
<h2>State</h2>
<ul>${found.map(({ name, ready, reason }) => `<li>${escaped(name)}: ${mark(ready)}${reason ? `, ${escaped(reason)}` : ''}</li>`).join('\n') || '<li>It takes requests.</li>'}</ul>
${demo ? demoPart(demo) : ''}`
    return sendPage(reply, { title: 'Overview', content }, '/')
  })
}

const greeting = ({ name, organization }: SignedIn): string =>
  `<p>Signed in as <strong>${escaped(name)}</strong>${organization === null ? '' : `, in ${escaped(organization)}`}.</p>\n`

const workspaceItem = ({ title, address }: Workspace): string =>
  `<li><a href="${escaped(address)}"><strong>${escaped(title)}</strong> ${escaped(new URL(address).host)}</a></li>`

const placeItem = ({ name, address, what }: Place): string => `<li><a href="${escaped(address)}">${escaped(name)}</a>: ${escaped(what)}</li>`

const mark = (ready: boolean): string => (ready ? '<span class="good">ready</span>' : '<span class="bad">not ready</span>')

/**
 * Returns a service's state: by its own check, else by the readiness check of its name, else by all checks of its
 * dependencies.
 */
async function stateOf({ slug, ready }: ShownService, found: readonly Found[]): Promise<boolean> {
  if (ready)
    return ready().then(
      () => true,
      () => false,
    )
  const own = found.filter(({ name }) => name === slug || ['database', 'migrations'].includes(name))
  return own.every(each => each.ready)
}

function serviceRow({ slug, title, origin, hasRoutes }: ShownService, ready: boolean): string {
  const rest = hasRoutes ? `<a href="/docs/${slug}">reference</a> · <a href="/${slug}/openapi.json">OpenAPI</a>` : '<span class="quiet">none yet</span>'
  const address = origin ? `<a href="${escaped(origin)}">${escaped(origin)}</a>` : `<code>/${slug}/api</code>`
  return `<tr><th scope="row">${escaped(title)}</th><td>${mark(ready)}</td><td>${rest}</td><td>${address}</td></tr>`
}

const demoPart = ({ accounts, password }: DemoAccounts): string => `<h2>Demo accounts</h2>
<p>Password of each: <code>${escaped(password)}</code>. <a href="/identity/login">Sign in</a></p>
<ul>${accounts.map(account => `<li><code>${escaped(account)}</code></li>`).join('\n')}</ul>`
