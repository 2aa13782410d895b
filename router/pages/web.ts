import type { FastifyInstance } from 'fastify'
import { parse } from 'graphql'
import { isPerson } from '../../subgraphs/viewer.ts'
import { mountWeb, type Web } from '../../web/serve/mount.ts'
import { type Authenticate, isCaller } from '../access/authenticate.ts'
import { doorRefusal } from '../door/errors.ts'
import { prefersHtml, webHeaders } from '../door/headers.ts'
import type { Engine } from '../engine/engine.ts'
import type { Hosts } from '../hosts.ts'
import { answersHere, misplaced } from '../rest/place.ts'

const onboarding = parse('query Onboarding { onboarding { state } }', { noLocation: true })

/**
 * Serves the services' web applications (`web/`), each on its own hosts and under its prefix on the platform's host.
 */
export function serveWeb(
  app: FastifyInstance,
  {
    hosts,
    publicUrl,
    authenticate,
    engine,
    isDevelopment,
    developersWebUrl,
  }: {
    readonly hosts: Hosts
    readonly publicUrl: string
    readonly authenticate: Authenticate
    readonly engine: Engine
    readonly isDevelopment: boolean
    readonly developersWebUrl: string | null
  },
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
    async standingOf(request) {
      const headers = webHeaders(request.headers)
      // Any failure of identity is ignored here and reported by the page's own next request.
      const caller = await authenticate(headers, { safe: true }).catch(() => null)
      if (!caller) return 'unknown'
      if (!isCaller(caller) || !isPerson(caller.viewer)) return 'anonymous'
      const asked = { document: onboarding, viewer: caller.viewer, requestId: request.id, headers, variables: {}, isOurs: true }
      const answer = await engine.execute(asked).catch(() => null)
      const state = (answer?.data as { readonly onboarding?: { readonly state?: string } | null } | null | undefined)?.onboarding?.state
      return state === undefined ? 'signed-in' : state === 'DONE' ? 'finished' : 'unfinished'
    },
    prefersHtml,
    isDevelopment,
    developerSignup: developersWebUrl === null ? null : `${developersWebUrl}/signup`,
    refusal: doorRefusal,
  })
}
