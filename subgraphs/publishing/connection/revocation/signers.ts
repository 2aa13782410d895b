import type { Job } from '../../context.ts'
import type { Platform, SignedRequest } from '../../network/network.ts'

/** A parsed request, with its signer. */
export interface Read {
  /** The verified request; null when the applications that may have signed it cannot be looked up at this moment. */
  readonly signed: SignedRequest | null
  /** The organizations whose application signed it; null for all. */
  readonly organizations: readonly string[] | null
}

/**
 * Returns readers of a network's signed requests. A configured application's secret is valid for all organizations;
 * otherwise organizations may have applications of their own, and the secret of one says nothing about accounts of
 * another.
 * @returns null where the network sends nothing, or there is no application at all
 */
export async function readersOf(job: Job, platform: Platform): Promise<((request: string) => Promise<Read>) | null> {
  const network = job.networks.get(platform)
  if (!network?.readSigned) return null
  if (job.applications.of(platform)) return async request => ({ signed: network.readSigned!(request), organizations: null })
  if (!network.accountOfSigned) return null
  const { ids } = await job.networkAccounts.organizationsOf(platform, '')
  if (ids.length === 0) return null
  return request => readKept(job, platform, request, network.accountOfSigned!(request))
}

async function readKept({ applications, networkAccounts }: Job, platform: Platform, request: string, accountId: string | null): Promise<Read> {
  if (accountId === null) return { signed: { outcome: 'malformed' }, organizations: null }
  const { ids, isTheirs } = await networkAccounts.organizationsOf(platform, accountId)
  const found = await Promise.all(ids.map(async id => ({ id, set: await applications.find(platform, id) })))
  const read = found.flatMap(({ id, set }) => (set.network?.readSigned ? [{ id, signed: set.network.readSigned(request) }] : []))
  const right = read.filter(({ signed }) => signed.outcome === 'read')
  if (right.length > 0) return { signed: right[0]!.signed, organizations: isTheirs ? right.map(({ id }) => id) : [] }
  const unread = read.find(({ signed }) => signed.outcome === 'malformed')
  if (unread) return { signed: unread.signed, organizations: null }
  const isOpen = found.some(({ set }) => !set.network && !set.isKnown)
  return { signed: isOpen ? null : { outcome: 'forged' }, organizations: null }
}
