import type { FastifyInstance } from 'fastify'
import { isPerson } from '../../subgraphs/viewer.ts'
import { mountWeb, type Web } from '../../web/serve/mount.ts'
import { type Authenticate, isCaller } from '../access/authenticate.ts'
import { doorRefusal } from '../door/errors.ts'
import { prefersHtml, webHeaders } from '../door/headers.ts'
import type { Hosts } from '../hosts.ts'
import { answersHere, misplaced } from '../rest/place.ts'

/**
 * Serves the services' web applications (`web/`), each on its own hosts and under its prefix on the platform's host.
 */
export function serveWeb(
  app: FastifyInstance,
  {
    hosts,
    publicUrl,
    authenticate,
    isDevelopment,
  }: { readonly hosts: Hosts; readonly publicUrl: string; readonly authenticate: Authenticate; readonly isDevelopment: boolean },
): Web {
  return mountWeb(app, {
    publicUrl,
    origins: hosts.pages(),
    serviceOf: hosts.serviceOf,
    isMarketing: hosts.isMarketing,
    addressOf: (slug, path) => hosts.addressOf(slug, 'web', path),
    keepHost(request, slug) {
      if (!answersHere(hosts, request, 'web')) throw misplaced(hosts, request, slug, 'web')
    },
    async isSignedIn(request) {
      // Any failure of identity is ignored here and reported by the page's own next request.
      const caller = await authenticate(webHeaders(request.headers), { safe: true }).catch(() => null)
      return caller && isCaller(caller) && isPerson(caller.viewer)
    },
    prefersHtml,
    isDevelopment,
    refusal: doorRefusal,
  })
}
