import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { site } from '../../marketing/pages.ts'
import type { Built } from '../built.ts'
import { policyOf, socketOf } from '../policy.ts'
import { type Language, languageOf, readWords, type Words } from '../words.ts'
import { lostSiteDocument, type SiteNeeds, siteDocument } from './document.ts'

/** What the site needs of the router. */
export interface SiteMountNeeds {
  readonly publicUrl: string
  readonly origins: readonly string[]
  /** Whether a host is the site's own. */
  isMarketing(host: string | undefined): boolean
  /** Whether a host is some service's, where the site has no pages. */
  isService(host: string | undefined): boolean
  /** The address of a page of the launcher: where people sign in. */
  signInAt(path: string): string
  /** Where people sign up who want to publish apps; null: where everybody does. */
  readonly developerSignup: string | null
  refusal(status: number, sentence: string): Error
  unbuilt(): Error
}

/** What else of the site is answered by whoever owns the address. */
export interface Site {
  home(request: FastifyRequest, reply: FastifyReply): FastifyReply
  lost(request: FastifyRequest, reply: FastifyReply): FastifyReply
}

/** Serves the marketing site: on its own hosts, and below `/marketing` on the platform's. Its pages are the same for everybody, and set no cookie. */
export function mountSite(app: FastifyInstance, needs: SiteMountNeeds, built: Built | null): Site {
  const words = new Map<Language, Words>()
  const wordsIn = (language: Language): Words => {
    const found = words.get(language) ?? readWords('marketing', language)
    words.set(language, found)
    return found
  }
  const send = (request: FastifyRequest, reply: FastifyReply, write: (needs: SiteNeeds) => string | null): FastifyReply => {
    if (!built) throw needs.unbuilt()
    const language = languageOf(request.headers['accept-language'])
    const nonce = randomBytes(16).toString('base64')
    const base = needs.isMarketing(request.headers.host) ? '' : '/marketing'
    const document: SiteNeeds = { built, words: wordsIn(language), language, base, nonce, signIn: needs.signInAt('/login') }
    const html = write(document)
    return reply
      .code(html === null ? 404 : reply.statusCode)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policyOf({ nonce, origins: needs.origins, socket: socketOf(request, needs.publicUrl), publicUrl: needs.publicUrl }),
        'cache-control': 'public, max-age=0, must-revalidate',
        'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'strict-origin-when-cross-origin',
        'x-content-type-options': 'nosniff',
        vary: 'accept-language',
      })
      .send(html ?? lostSiteDocument(document))
  }
  const keepHost = (request: FastifyRequest) => {
    const { host } = request.headers
    if (!needs.isMarketing(host) && needs.isService(host)) throw needs.refusal(404, 'There is no page of the marketing site on this host.')
  }
  for (const [name, { path }] of Object.entries(site))
    app.get<{ Params: { package?: string } }>(`/marketing${path}`, async (request, reply) => {
      keepHost(request)
      return send(request, reply, document => siteDocument(document, name, request.params.package ?? null))
    })
  const signUp = needs.signInAt('/login?sign_up=1')
  for (const [path, to] of [
    ['/signup', signUp],
    ['/developers/signup', needs.developerSignup ?? signUp],
  ] as const)
    app.get(`/marketing${path}`, async (request, reply) => {
      keepHost(request)
      return reply.redirect(to, 302)
    })
  return {
    home: (request, reply) => send(request, reply, document => siteDocument(document, 'home', null)),
    lost: (request, reply) => send(request, reply.code(404), lostSiteDocument),
  }
}
