import { type CacheWish, Caching } from '../data/caching.ts'
import type { EngineOptions } from '../engine.ts'
import { shownTo } from './aside.ts'
import type { Ready } from './prepare.ts'

/** Begins to note how long the answer to a request may be kept; null where it never may, and no cache has to be asked. */
export function cachingOf({ request, variant }: Ready, options: EngineOptions): Caching | null {
  const isOn = options.caching?.isOn ?? false
  if (!variant.caching) return null
  // Parts of incremental answers are made for one client.
  if (variant.incremental) return isOn ? new Caching(unkept, isOn, 'none', '', false) : null
  const active = request.overrides?.active ?? []
  return new Caching(
    variant.caching,
    isOn,
    isOn ? wishOf(request.headers) : 'none',
    active.length > 0 ? JSON.stringify(active) : '',
    isOn && shownTo(request, options).includes('cache'),
  )
}

const unkept = { maxAge: 0, isPrivate: true, isGuarded: false, isSaid: true }

/** Reads what a request wishes of the cache (RFC 9111 §5.2.1). */
function wishOf(headers: Headers | undefined): CacheWish {
  const written = headers?.get('cache-control')
  if (!written) return 'use'
  const directives = written.toLowerCase().split(/[\s,]+/)
  if (directives.includes('no-store')) return 'none'
  return directives.includes('no-cache') ? 'renew' : 'use'
}
