import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { AppPages, PageOf } from '../shell/pages.ts'
import { returnPath } from '../shell/session/return.ts'
import { apps } from './apps.ts'
import { serveAssets } from './assets.ts'
import { type Built, readBuilt } from './built.ts'
import { callbackDocument, type DocumentNeeds, lostDocument, type SignInLinks, shellDocument, signInDocument } from './document.ts'
import { sendEmbed } from './embed.ts'
import { manifestOf, workerOf } from './install.ts'
import { policyOf, socketOf } from './policy.ts'
import { mountSite } from './site/mount.ts'
import { type Language, languageOf, readWords, type Words } from './words.ts'

/** What pages need of the router. */
export interface WebNeeds {
  readonly publicUrl: string
  /** Origins of our own hosts, from which pictures come. */
  readonly origins: readonly string[]
  /** The service that a host belongs to; null for the platform's own. */
  serviceOf(host: string | undefined): Slug | null
  /** Whether a host is the marketing site's alone. */
  isMarketing(host: string | undefined): boolean
  /** The address of a page of a service, by the path on its own host. */
  addressOf(slug: Slug, path: string): string
  /** Throws where pages of a service are not served on the host of a request: it says where they are. */
  keepHost(request: FastifyRequest, slug: Slug): void
  /** How far the person is whose cookie comes with a request. */
  standingOf(request: FastifyRequest): Promise<Standing>
  /** Whether a client would rather have a page than JSON. */
  prefersHtml(accept: string | undefined): boolean
  /** Where people sign up who want to publish apps; null: where everybody does. */
  readonly developerSignup: string | null
  /** Whether pages for who builds them are there too. */
  readonly isDevelopment: boolean
  /** An error that is answered with a status. */
  refusal(status: number, sentence: string): Error
  /** What was built; null: nothing. @default what lies in `web/dist` */
  readonly built?: Built | null
}

/**
 * How far a browser's person is: `unfinished` has something to do before the pages open, of `signed-in` nobody can tell, and `unknown`
 * may be signed in or not.
 */
export type Standing = 'anonymous' | 'unfinished' | 'finished' | 'signed-in' | 'unknown'

/** What is answered beside the pages' own addresses. */
export interface Web {
  /** Answers `/` of a service's own host; null where that host has no pages of ours. */
  start(request: FastifyRequest, reply: FastifyReply): FastifyReply | null
  /** Answers a browser at an address that there is not; null where its host has no pages of ours. */
  lost(request: FastifyRequest, reply: FastifyReply): FastifyReply | null
}

const asked = ({ originalUrl }: FastifyRequest): string => originalUrl.replace(/^https?:\/\/[^/?#]*/i, '')
const pathOf = (url: string): string => url.split('?', 1)[0]!
const queryOf = (url: string): URLSearchParams => new URLSearchParams(url.split('?').slice(1).join('?'))

/** Names under which a token would come in an address, where it must never be. */
const tokenNames = ['access_token', 'id_token', 'refresh_token', 'token', 'jwt']

/** Serves the pages of every app, and the files that they load. They are built before; what was not is said with the command that does it. */
export function mountWeb(app: FastifyInstance, needs: WebNeeds): Web {
  const { built = readBuilt() } = needs
  const words = new Map<string, Words>()
  const wordsOf = ({ app: name }: AppPages, language: Language): Words => {
    const key = `${name} ${language}`
    const found = words.get(key) ?? readWords(name, language)
    words.set(key, found)
    return found
  }
  const files = new Set(built?.files ?? [])
  serveAssets(
    app,
    name => files.has(name),
    () => needs.refusal(404, 'There is no such file in this build.'),
  )
  const send = createSend(needs, built, wordsOf)
  const site = mountSite(
    app,
    {
      ...needs,
      isService: host => needs.serviceOf(host) !== null,
      signInAt: path => needs.addressOf('launcher', path),
      unbuilt: () => unbuilt(needs),
    },
    built,
  )

  for (const pages of apps) {
    for (const [name, page] of Object.entries(pages.pages))
      for (const path of page.isForDevelopment && !needs.isDevelopment ? [] : page.paths)
        servePage(app, needs, pages, path, async (request, reply) => {
          const location = pages.guarded ? guardOf(pages, path, await needs.standingOf(request), asked(request).slice(baseOf(request, pages).length)) : null
          if (location !== null) return reply.redirect(`${baseOf(request, pages)}${location}`, 302)
          return send(request, reply, pages, document => shellDocument(document, name, page))
        })
    if (pages.installs) serveInstallation(app, needs, pages, built, wordsOf)
    if (pages.embed) servePage(app, needs, pages, pages.embed, async (_, reply) => (built ? sendEmbed(reply, built) : Promise.reject(unbuilt(needs))))
    if (!pages.isForgetful)
      servePage(app, needs, pages, '/login', async (request, reply) => {
        const standing = pages.guarded ? await needs.standingOf(request) : 'unknown'
        if (standing !== 'anonymous' && standing !== 'unknown') {
          const wanted = standing === 'unfinished' ? pages.onboarding : returnTo(request)
          return reply.redirect(`${baseOf(request, pages)}${wanted ?? pages.start}`, 302)
        }
        return send(request, reply, pages, document => signInDocument(document, linksOf(request, pages)), { kept: false })
      })
    const [startName, startPage] = Object.entries(pages.pages).find(([, { paths }]) => paths.includes(pages.start))!
    servePage(app, needs, pages, '/callback', async (request, reply) => {
      if (!queryOf(asked(request)).has('sso_code')) return reply.redirect(`${baseOf(request, pages)}/login`, 302)
      // Where the token lives in memory the code has to arrive in the document that goes on with it.
      const write = (document: DocumentNeeds) =>
        pages.isForgetful ? shellDocument(document, startName, startPage, { shownAs: 'callback' }) : callbackDocument(document)
      return send(request, reply, pages, write, { kept: false })
    })
  }
  const appAt = (request: FastifyRequest): AppPages | null => {
    const { host } = request.headers
    if (needs.isMarketing(host)) return null
    const slug = needs.serviceOf(host)
    const prefixed = apps.find(pages => pathOf(asked(request)).startsWith(`/${pages.app}/`))
    return apps.find(pages => pages.app === slug) ?? (slug === null ? (prefixed ?? null) : null)
  }
  return {
    start(request, reply) {
      if (needs.isMarketing(request.headers.host)) return site.home(request, reply)
      const pages = appAt(request)
      return pages && reply.header('vary', 'accept').redirect(pages.start, 302)
    },
    lost(request, reply) {
      if (needs.isMarketing(request.headers.host))
        return built && !/^\/(?:[a-z]+\/)?(?:api|assets)\//.test(pathOf(asked(request))) ? site.lost(request, reply) : null
      const pages = appAt(request)
      if (!pages || !built || /^\/(?:[a-z]+\/)?(?:api|assets)\//.test(pathOf(asked(request)))) return null
      // Whoever opens an old address of payments signs in first, and is told then.
      return send(request, reply.code(pages.isForgetful ? 200 : 404), pages, lostDocument)
    },
  }
}

/**
 * Returns where a guarded page sends a person instead; null where it opens. While nobody can tell, it opens: it says nothing of anybody, and
 * its regions say that they could not be read.
 * @param wanted the page's address with its query
 */
function guardOf({ onboarding, start }: AppPages, path: string, standing: Standing, wanted: string): string | null {
  if (standing === 'anonymous') return `/login?return_to=${encodeURIComponent(wanted)}`
  if (standing === 'unfinished' && path !== onboarding) return onboarding ?? null
  return standing === 'finished' && path === onboarding ? start : null
}

/** Serves what a browser installs an app by. */
function serveInstallation(
  app: FastifyInstance,
  needs: WebNeeds,
  pages: AppPages,
  built: Built | null,
  wordsOf: (pages: AppPages, language: Language) => Words,
): void {
  servePage(app, needs, pages, '/manifest.webmanifest', async (request, reply) => {
    if (!built) throw unbuilt(needs)
    const language = languageOf(request.headers['accept-language'])
    reply.headers({ 'content-type': 'application/manifest+json; charset=utf-8', 'cache-control': 'no-cache', vary: 'accept-language' })
    return reply.send(JSON.stringify(manifestOf(pages, built, wordsOf(pages, language), baseOf(request, pages))))
  })
  servePage(app, needs, pages, '/sw.js', async (_, reply) => {
    if (!built) throw unbuilt(needs)
    return reply.headers({ 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' }).send(await workerOf(built))
  })
}

/** The app's prefix where it was written, which its links then need too: such a path is the canonical one already. */
const baseOf = (request: FastifyRequest, { app }: AppPages): string => {
  const path = pathOf(asked(request))
  return path.startsWith(`/${app}/`) && path === pathOf(request.url) ? `/${app}` : ''
}

/** The path of this host that a sign-in is to lead to; null where there is none, or it is another place. */
const returnTo = (request: FastifyRequest): string | null => returnPath(queryOf(asked(request)).get('return_to'))

function linksOf(request: FastifyRequest, pages: AppPages): SignInLinks {
  const back = `?return_to=${encodeURIComponent(`${baseOf(request, pages)}${returnTo(request) ?? pages.start}`)}`
  // The script of the page sends it there as JSON; the launcher's and publishing's own hosts have identity's routes without its prefix.
  const takes = `${baseOf(request, pages) === '' && ['launcher', 'publishing'].includes(pages.app) ? '' : '/identity'}/api/auth/sign-in/email`
  return { takes, register: '/identity/sign-up', forgot: '/identity/reset-password', hosted: `/identity/login${back}` }
}

/** Answers GET of a page's address on the hosts of its service, and with its prefix on the platform's; other methods are 405. */
function servePage(
  app: FastifyInstance,
  needs: WebNeeds,
  pages: AppPages,
  path: PageOf['paths'][number],
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  const url = `/${pages.app}${path}`
  const here = (request: FastifyRequest) => {
    const slug = needs.serviceOf(request.headers.host)
    if (needs.isMarketing(request.headers.host) || (slug !== null && slug !== pages.app))
      throw needs.refusal(404, `There is no page of ${pages.app} on this host.`)
    needs.keepHost(request, pages.app)
  }
  app.get(url, async (request, reply) => {
    here(request)
    if (tokenNames.some(name => queryOf(asked(request)).has(name)))
      throw needs.refusal(400, 'A token never stands in an address: history, logs and other pages would see it. Sign in again.')
    if (request.headers.accept !== undefined && !needs.prefersHtml(request.headers.accept) && !/\*\/\*/.test(request.headers.accept))
      throw needs.refusal(404, 'There is a page for people at this address, and nothing for programs: ask with Accept: text/html, or ask the graph.')
    return handler(request, reply)
  })
  app.route({
    method: app.supportedMethods.filter(method => method !== 'GET' && method !== 'HEAD'),
    url,
    async onRequest(request, reply) {
      here(request)
      reply.header('allow', 'GET, HEAD, OPTIONS')
      if (request.method === 'OPTIONS') return reply.code(204).send()
      throw needs.refusal(405, 'This address takes GET, HEAD, OPTIONS.')
    },
    handler: () => undefined,
  })
}

const unbuilt = (needs: WebNeeds): Error =>
  needs.refusal(503, 'The pages are not built yet: run npm run build:web and start again. The graph and the routes answer all the same.')

type Send = (
  request: FastifyRequest,
  reply: FastifyReply,
  pages: AppPages,
  write: (needs: DocumentNeeds) => string,
  options?: { readonly kept?: boolean },
) => FastifyReply

/** Makes what sends documents, with the headers that all of them have. */
function createSend(needs: WebNeeds, built: Built | null, wordsOf: (pages: AppPages, language: Language) => Words): Send {
  return (request, reply, pages, write, { kept = true } = {}) => {
    if (!built) throw unbuilt(needs)
    const language = languageOf(request.headers['accept-language'])
    const nonce = randomBytes(16).toString('base64')
    const html = write({ pages, built, words: wordsOf(pages, language), language, base: baseOf(request, pages), nonce })
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policyOf({ nonce, origins: needs.origins, socket: socketOf(request, needs.publicUrl), publicUrl: needs.publicUrl }),
        'cache-control': kept ? 'private, no-cache' : 'no-store',
        'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        vary: 'accept-language',
      })
      .send(html)
  }
}
