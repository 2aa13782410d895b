import { DomainError } from '../../../../platform/errors.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { problem } from '../../../http/problem.ts'
import { anonymous } from '../../../viewer.ts'
import type { At } from '../../context.ts'
import type { StoreAppRow } from '../../engines/catalog/store.ts'
import { iconPath } from '../entry/rules.ts'
import { askShop } from './commerce.ts'
import { drawn, openIcon } from './icon.ts'
import { readStore, readStoreApp } from './read.ts'

const keptHeaders = { 'cache-control': 'public, max-age=60', 'access-control-allow-origin': '*' }

const answer = (body: object): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json; charset=utf-8', ...keptHeaders } })

/** The last part of a request's path. */
const lastOf = (url: URL): string => decodeURIComponent(url.pathname.split('/').at(-1)!)

/** Reads the page's arguments from the query. @throws BAD_USER_INPUT for a size that is no number */
function pageIn(query: URLSearchParams) {
  const [first, after] = [query.get('first'), query.get('after')]
  if (first !== null && !/^\d{1,4}$/.test(first)) throw new DomainError('BAD_USER_INPUT', 'first is no number: ask for 1 to 100 apps.', { field: 'first' })
  return { first: first === null ? null : Number(first), after }
}

/** The store and the icons of apps, which need no credentials, and the developer platform's shop, for people. */
export function storeHandlers({ contexts, services: { outbound, developersUrl, publicUrl, log, viewerTokens } }: At): Handlers {
  const shown = ({ app, title, summary, description, category, publisher, contexts, capabilities, screenshots, release }: StoreAppRow) => ({
    ...{ app, title, summary, description, category, publisher, icon: `${publicUrl}${iconPath(app)}` },
    contexts: contexts.map(name => name.toLowerCase()),
    capabilities: capabilities.map(name => name.toLowerCase()),
    screenshots,
    version: release,
  })
  const open = (request: Request) => contexts.forRequest(anonymous, request)
  return {
    'GET /launcher/api/store/apps': async request => {
      const { searchParams } = new URL(request.url)
      const { source, page } = await readStore(open(request), { category: searchParams.get('category'), ...pageIn(searchParams) })
      const { hasNextPage, endCursor } = page.pageInfo
      return answer({ apps: page.nodes.map(shown), nextCursor: hasNextPage ? endCursor : null, totalCount: await page.totalCount(), source })
    },
    'GET /launcher/api/store/search': async request => {
      const { source, page } = await readStore(open(request), { search: new URL(request.url).searchParams.get('q') ?? '', first: 100 })
      return answer({ apps: page.nodes.map(shown), source })
    },
    'GET /launcher/api/store/apps/*': async request => {
      const app = lastOf(new URL(request.url))
      const found = await readStoreApp(open(request), app)
      return found ? answer(shown(found)) : problem(request, 'NOT_FOUND', `The store has no app ${app.slice(0, 80)}.`)
    },
    'GET /launcher/icons/*': async request => {
      const app = lastOf(new URL(request.url))
      const entry = await open(request).catalogEntries.iconOf(app)
      if (!entry) return problem(request, 'NOT_FOUND', `The catalogue has no app ${app.slice(0, 80)}.`)
      const icon = await openIcon({ outbound, developersUrl, log }, entry.iconUrl, request.signal)
      return icon ?? drawn(entry)
    },
    '* /launcher/api/commerce/**': (request, viewer) => askShop(request, viewer, { outbound, developersUrl, viewerTokens }),
  }
}
