import { hashOfSecret } from '../../../platform/cipher.ts'
import { isId } from '../../../platform/ids.ts'
import type { Handlers } from '../../http/handlers.ts'
import { escaped, htmlPage } from '../../http/html.ts'
import { problem } from '../../http/problem.ts'
import type { Viewer } from '../../viewer.ts'
import { HandoffOfCodeDocument } from '../ask.generated.ts'
import type { At } from '../context.ts'
import { registration } from '../registration.ts'
import type { MobileBuild } from '../stores/catalog-entry.ts'
import { androidAssociation, appleAssociation, openNativeApps } from './associations.ts'
import { phoneOf } from './rules.ts'

const sentence = 'This link works for a minute and once, in the app that it was made for. Open the app from the dashboard again.'

/** Answers a link that leads nowhere: a page with a way back, or a problem document for programs. */
function refused(request: Request, dashboardUrl: string): Response {
  const accept = request.headers.get('accept') ?? ''
  if (/json/.test(accept) && !accept.includes('text/html')) return problem(request, 'BAD_USER_INPUT', sentence, { reason: 'CODE', field: 'code' })
  return htmlPage(400, 'This link does not work any more', sentence, `<p><a href="${escaped(dashboardUrl)}/dashboard">Back to the dashboard</a></p>`)
}

/** Handlers of the links that open native apps, and of the files by which phones know them. */
export function launchHandlers({ job, services: { ask, clock, dashboardUrl } }: At): Handlers {
  const nativeApps = openNativeApps(ask, clock)
  const base = new URL(dashboardUrl).pathname.replace(/\/$/, '')
  const shared = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
  const json = (body: unknown) => new Response(JSON.stringify(body), { headers: shared })

  /** Returns where a link leads: to the store of a phone, else to the app's page with the code; null for one that does not work. */
  async function targetOf(url: URL, userAgent: string | null, viewer: Viewer): Promise<string | null> {
    const [serviceId, code] = [url.pathname.split('/').at(-1)!, url.searchParams.get('code') ?? '']
    if (!isId(serviceId) || !/^[\w-]{43}$/.test(code)) return null
    const context = job('launches')
    const launch = await context.launches.ofCode(hashOfSecret(code), serviceId.toLowerCase(), clock.now())
    if (!launch) return null
    // Whether the code was used, and whether its session still stands, identity alone knows.
    const { handoff } = await ask(HandoffOfCodeDocument, { code }, { appId: registration.appId, viewer })
    if (!handoff) return null
    const phone = phoneOf(userAgent)
    const entry = phone && (await context.catalogEntries.ofApp(launch.app))
    const build = ((entry?.mobileApps ?? []) as readonly MobileBuild[]).find(({ platform }) => platform === phone)
    return build?.storeUrl ?? handoff.callbackUrl
  }

  return {
    async 'GET /launcher/launch/*'(request, viewer) {
      const location = await targetOf(new URL(request.url), request.headers.get('user-agent'), viewer)
      if (location === null) return refused(request, dashboardUrl)
      return new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } })
    },
    'GET /.well-known/apple-app-site-association': async (_, viewer) => json(appleAssociation(await nativeApps(viewer), base)),
    'GET /.well-known/assetlinks.json': async (_, viewer) => json(androidAssociation(await nativeApps(viewer))),
  }
}
