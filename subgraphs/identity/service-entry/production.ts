import type { Logger } from 'pino'
import { z } from 'zod'
import type { Clock } from '../../../platform/clock.ts'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { ServiceAddress } from '../stores/service-entry.ts'

/** Returns a service's addresses in production, as a fallback; an empty list if there are none. Never rejects. */
export type Production = (slug: string) => Promise<readonly ServiceAddress[]>

/** Time in ms for which an answer is cached, and pause after a failure. */
const [keptMs, againMs] = [60_000, 10_000]
/** Time limit in ms of production's answer; staging's callers wait for it. */
const timeoutMs = 2_000
/** Maximum addresses of one service, one for each audience. */
export const mostAddresses = 5

const answer = z.object({
  addresses: z.array(z.object({ role: z.string().min(1).max(40), url: z.url({ protocol: /^https?$/ }) })).max(20),
})

interface Kept {
  readonly until: number
  readonly addresses: Promise<readonly ServiceAddress[]>
}

/**
 * Creates the client of production's registry. Answers are cached for a minute; while it does not answer, its last
 * answer is used, and callers do not wait a second time. Each answer is logged when it is first used.
 * @param registry base address of entries by slug; null for no fallback
 */
export function createProduction(registry: string | null, outbound: Outbound, clock: Clock, log: Logger): Production {
  if (registry === null) return async () => []
  const kept = new Map<string, Kept>()
  const last = new Map<string, readonly ServiceAddress[]>()
  /** Whether production did not answer the last request: then callers do not wait. */
  let isAway = false

  const fetchAddresses = async (slug: string): Promise<readonly ServiceAddress[]> => {
    const { status, text } = await outbound(`${registry}/${slug}`, { headers: { accept: 'application/json' }, timeoutMs: timeoutMs })
    if (status === 404) return []
    if (status !== 200) throw new Error(`the registry of production answered ${status}`)
    const { addresses } = answer.parse(JSON.parse(text))
    return addresses.slice(0, mostAddresses).map(({ role, url }) => ({ role, url, environment: 'production' }))
  }

  const ask = (slug: string): Kept => {
    const entry = { until: clock.now().getTime() + keptMs, addresses: Promise.resolve(last.get(slug) ?? []) }
    const asked = fetchAddresses(slug).then(
      addresses => {
        isAway = false
        last.set(slug, addresses)
        entry.addresses = Promise.resolve(addresses)
        if (addresses.length > 0)
          log.info({ service: slug, addresses: addresses.map(({ role, url }) => `${role} ${url}`) }, 'addresses of production are handed out')
        return addresses
      },
      err => {
        isAway = err instanceof OutboundFailure
        entry.until = clock.now().getTime() + againMs
        log.warn({ err, service: slug }, 'production registry unreachable: its last answer stays in use')
        return last.get(slug) ?? []
      },
    )
    if (!isAway) entry.addresses = asked
    kept.set(slug, entry)
    return entry
  }

  // Only slugs of entries are requested, so there are never more results than entries.
  return slug => {
    const known = kept.get(slug)
    return (known && known.until > clock.now().getTime() ? known : ask(slug)).addresses
  }
}
