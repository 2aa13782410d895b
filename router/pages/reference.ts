import type { FastifyInstance } from 'fastify'
import type { slugs } from '../../subgraphs/scopes.ts'
import type { Hosts } from '../hosts.ts'
import { type Asset, ownFile, packageFile, serveAssets } from './assets.ts'
import { assets, type SendPage } from './layout.ts'

const files: readonly Asset[] = [
  { path: `${assets}/swagger-ui.js`, type: 'text/javascript', load: packageFile('swagger-ui-dist/swagger-ui-bundle.js') },
  { path: `${assets}/swagger-ui.css`, type: 'text/css', load: packageFile('swagger-ui-dist/swagger-ui.css') },
  { path: `${assets}/reference.js`, type: 'text/javascript', load: ownFile('reference.js') },
]

/**
 * Serves the reference of the REST routes, generated from `/openapi.json`, at `/docs`, and of one service at
 * `/docs/<slug>`. Readers can try calls on the page.
 * @param services those with routes
 */
export function serveReference(app: FastifyInstance, { hosts, services, publicUrl }: ReferenceNeeds, sendPage: SendPage): void {
  serveAssets(app, files)
  const show = (slug: string | null) => ({
    title: slug ? `REST of ${slug}` : 'REST',
    content: `<div class="page-head text"><h1>REST${slug ? ` of ${slug}` : ''}</h1>
<p>Parts: ${['', ...services].map(each => partLink(each, slug)).join(' ')}. The document itself: <a href="${documentOf(slug)}">${documentOf(slug)}</a> (OpenAPI 3.1).</p>
<p id="session"><button type="button" id="use-session">Use my session’s token</button> <span role="status" aria-live="polite">To try calls, paste a token at “Authorize”, or <a href="/identity/login?return_to=${encodeURIComponent(slug ? `/docs/${slug}` : '/docs')}">sign in</a> and use the session’s.</span></p></div>
<div id="reference"><p>The reference needs JavaScript, which this browser does not run, or has not loaded yet.</p></div>`,
    styles: [`${assets}/swagger-ui.css`],
    scripts: [`${assets}/swagger-ui.js`, `${assets}/reference.js`],
    layout: 'above' as const,
    data: { document: documentOf(slug) },
    // Swagger UI embeds its images in its style sheet and writes inline styles; calls go to the document's server.
    policy: { 'style-src': "'self' 'unsafe-inline'", 'connect-src': `'self' ${publicUrl}` },
  })
  app.get('/docs', async (request, reply) => sendPage(reply, show(hosts.serviceOf(request.headers.host)), '/docs'))
  for (const slug of services) app.get(`/docs/${slug}`, async (_request, reply) => sendPage(reply, show(slug), `/docs/${slug}`))
}

export interface ReferenceNeeds {
  readonly hosts: Hosts
  readonly services: readonly (typeof slugs)[number][]
  readonly publicUrl: string
}

const documentOf = (slug: string | null): string => (slug ? `/${slug}/openapi.json` : '/openapi.json')

const partLink = (slug: string, current: string | null): string =>
  `<a href="/docs${slug && `/${slug}`}"${(slug || null) === current ? ' aria-current="page"' : ''}>${slug || 'all'}</a>`
