import { createHash } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Handler } from '../../http/handlers.ts'
import type { ServiceEntryRow } from '../stores/service-entry.ts'
import { maintenanceOf } from './maintenance.ts'
import type { Production } from './production.ts'
import { addressesOf } from './rules.ts'

/** Path below which a registry entry is found by its slug. */
export const servicesPath = '/identity/api/services'

/** Seconds for which an answer may be cached. */
const secondsKept = 60

/**
 * Handles `GET /identity/api/services/:slug`: the same for everyone, so that pages and programs find a service before a
 * sign-in.
 * @param entries of this environment
 */
export const serviceAnswer =
  (entries: () => Promise<readonly ServiceEntryRow[]>, production: Production, clock: Clock): Handler =>
  async request => {
    const slug = new URL(request.url).pathname.slice(servicesPath.length + 1).replace(/\/$/, '')
    const entry = (await entries()).find(each => each.slug === slug)
    if (!entry) throw new DomainError('NOT_FOUND', 'No service of this environment goes by that slug.')
    const { id, title, environment, kind, contexts, capabilities, icon, lifecycle, mobileApps } = entry
    const addresses = addressesOf(entry, await production(slug))
    const now = clock.now()
    const maintenance = maintenanceOf(entry, now)
    const body = JSON.stringify({ id, slug, title, environment, kind, contexts, capabilities, icon, lifecycle, addresses, mobileApps, maintenance })
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
    // Maintenance that is over is not shown any more.
    const seconds = maintenance ? Math.min(secondsKept, Math.ceil((maintenance.until.getTime() - now.getTime()) / 1000)) : secondsKept
    const headers = { etag, 'cache-control': `public, max-age=${seconds}` }
    if (isKnown(etag, request.headers.get('if-none-match'))) return new Response(null, { status: 304, headers })
    return new Response(body, { headers: { ...headers, 'content-type': 'application/json; charset=utf-8' } })
  }

/** Whether a client has this very answer (RFC 9110 §13.1.2: compared weakly). */
function isKnown(etag: string, header: string | null): boolean {
  const known = (header ?? '').split(',').map(each => each.trim().replace(/^W\//, ''))
  return known.includes('*') || known.includes(etag)
}
