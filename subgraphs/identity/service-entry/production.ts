import type { Logger } from 'pino'
import { z } from 'zod'
import type { Clock } from '../../../platform/clock.ts'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { ServiceAddress } from '../stores/service-entry.ts'

/** Finds the addresses of a service in production, to fall back on; none where there are none. Never rejects. */
export type Production = (slug: string) => Promise<readonly ServiceAddress[]>

/** How long an answer is good for, and how long it is before one that failed is asked for again, in ms. */
const [keptMs, againMs] = [60_000, 10_000]
/** How long production may take, in ms: whoever asks staging waits for it. */
const patienceMs = 2_000
/** Addresses of one service: one a role. */
export const mostAddresses = 5

const answer = z.object({
  addresses: z.array(z.object({ role: z.string().min(1).max(40), url: z.url({ protocol: /^https?$/ }) })).max(20),
})

interface Kept {
  readonly until: number
  readonly addresses: Promise<readonly ServiceAddress[]>
}

/**
 * Makes the way to the registry of production. What it answers is kept for a minute; while it does not answer, what it said last goes on,
 * and whoever asks does not wait for it a second time.
 * Each answer is logged when it is first handed out.
 * @param registry address below which an entry is found by its slug; null: nothing follows
 */
export function createProduction(registry: string | null, outbound: Outbound, clock: Clock, log: Logger): Production {
  if (registry === null) return async () => []
  const kept = new Map<string, Kept>()
  const last = new Map<string, readonly ServiceAddress[]>()
  /** Whether production gave no answer when it was last asked: then nobody waits for one. */
  let isAway = false

  const fetchAddresses = async (slug: string): Promise<readonly ServiceAddress[]> => {
    const { status, text } = await outbound(`${registry}/${slug}`, { headers: { accept: 'application/json' }, timeoutMs: patienceMs })
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
