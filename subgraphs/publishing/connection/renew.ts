import { DomainError } from '../../../platform/errors.ts'
import { change, step } from '../../store/write.ts'
import type { Context, Job } from '../context.ts'
import { organizationOf } from '../network/account/organization.ts'
import { GrantFailure, type Network, type Platform } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { Account } from '../network/publication.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import { reconnectNeeded } from './change.ts'
import { heldWithBrand, withHealth } from './health.ts'
import { mustRenew } from './rules.ts'
import { usableToken } from './tokens.ts'

const dayMs = 86_400_000

/** Networks without refresh tokens: the access token itself is extended, while it is valid and at least a day old. */
export const lengthened: ReadonlySet<Platform> = new Set(['INSTAGRAM', 'THREADS'])

/**
 * Time in ms before the expiry of such a token at which it is extended: with one attempt a day, ten attempts remain.
 */
export const lengthenBeforeMs = 10 * dayMs

/** Whether the network would renew the access at this moment. */
export const canRenew = ({ platform, refreshToken, tokenExpiresAt }: Pick<ConnectionRow, 'platform' | 'refreshToken' | 'tokenExpiresAt'>, now: Date): boolean =>
  refreshToken !== null || (lengthened.has(platform) && tokenExpiresAt !== null && tokenExpiresAt.getTime() - now.getTime() <= lengthenBeforeMs)

/** The parts of a job that a renewal needs. */
type Renewing = Pick<Job, 'applications' | 'brands' | 'clock' | 'connections' | 'events' | 'networks' | 'publicUrl' | 'renewals'> &
  Parameters<typeof usableToken>[0]

/**
 * Returns the network of a connection. @throws CONFLICT, reason NOT_CONNECTABLE, where its application is gone;
 * UPSTREAM_FAILED when that is unknown
 */
async function networkOf({ applications, brands, networks }: Renewing, { platform, brandId }: ConnectionRow): Promise<Network> {
  const network = networks.get(platform)
  if (network && applications.of(platform)) return network
  const brand = await brands.byId.load(brandId)
  const found = brand && (await applications.find(platform, brand.organizationId))
  if (found?.network) return found.network
  if (found?.isKnown === false)
    throw new DomainError(
      'UPSTREAM_FAILED',
      `Whether an application is set up for ${everyNetwork[platform].title} cannot be found out at this moment: try again.`,
      {
        retryAfter: 5,
        platform,
      },
    )
  throw new DomainError(
    'CONFLICT',
    `${everyNetwork[platform].title} cannot be called: no application is set up for it any more. The operator has to set one.`,
    {
      reason: 'NOT_CONNECTABLE',
      platform,
    },
  )
}

/** Converts a network's rejection to an error for the person who requested the renewal. */
function refusalOf(row: ConnectionRow, error: unknown): unknown {
  if (!(error instanceof GrantFailure)) return error
  if (error.permanent) return reconnectNeeded(row, `${error.message.replace(/\.?$/, '.')}`)
  return new DomainError('UPSTREAM_FAILED', `The access could not be renewed now: ${error.message.replace(/\.?$/, '.')} Try again in a while.`, {
    retryAfter: 30,
  })
}

/**
 * Renews a connection's access now, by the single renewal in progress for it (`usableToken`).
 * @returns whether it was renewed; false where nothing is due or the network cannot renew a valid token
 * @throws CONFLICT, reason RECONNECT_NEEDED, when only a person can help; UPSTREAM_FAILED when the network cannot be
 * reached now
 */
export async function renewNow(job: Renewing, row: ConnectionRow): Promise<boolean> {
  if (!row.active) throw reconnectNeeded(row, 'The connection is out of use.')
  const now = job.clock.now()
  const isOver = mustRenew(row.tokenExpiresAt, now)
  if (!isOver && !canRenew(row, now)) return false
  try {
    const { accessToken } = job.connections.open(row)
    return (await usableToken(job, await networkOf(job, row), row, isOver ? undefined : accessToken)) !== accessToken
  } catch (error) {
    throw refusalOf(row, error)
  }
}

/** Maximum checks of a connection within a minute. */
const mostChecks = 6
const checksMs = 60_000

/** Returns the times of a connection's checks within the last minute, the oldest first. */
const checksOf = ({ metadata }: ConnectionRow, now: Date): readonly number[] =>
  (Array.isArray(metadata.checks) ? (metadata.checks as number[]) : []).filter(at => at > now.getTime() - checksMs && at <= now.getTime())

/**
 * Reads the account of a connection from the network, and stores it. @throws RATE_LIMITED above six times a minute, and
 * the errors of `renewNow`
 */
export async function check(context: Context, id: string): Promise<ConnectionRow> {
  const { brandId } = await context.connections.require(id)
  const row = await change(context, {
    of: context.connections,
    id,
    before: async ({ transaction }) => void (await context.brands.requireInUse(brandId, transaction)),
    decide(held, { now }) {
      if (!held.active) throw reconnectNeeded(held, 'The connection is out of use.')
      const checks = checksOf(held, now)
      if (checks.length >= mostChecks) {
        const retryAfter = Math.ceil((checks[0]! + checksMs - now.getTime()) / 1000)
        throw new DomainError('RATE_LIMITED', `The connection was checked ${mostChecks} times within a minute: try again in ${retryAfter} seconds.`, {
          retryAfter,
        })
      }
      return { metadata: { ...held.metadata, checks: [...checks, now.getTime()] } }
    },
  })
  try {
    const account = await accountOf(context, await networkOf(context, row), row)
    const kept = await step(context, {
      ...heldWithBrand(context, row),
      decide(held, { now }) {
        if (!held.active || held.connectedAt.getTime() !== row.connectedAt.getTime()) return null
        return { changes: withHealth(held, { ...context.connections.described(held, account), lastCheckedAt: now }, now), isNews: true }
      },
    })
    return kept?.after ?? (await context.connections.require(id))
  } catch (error) {
    throw refusalOf(row, error)
  }
}

/** Returns the account, as the network describes it; a rejected token is renewed once. */
async function accountOf(job: Renewing, network: Network, row: ConnectionRow): Promise<Account> {
  const organizationId = await organizationOf(job, row.brandId, row.platform)
  const accessToken = await usableToken(job, network, row)
  try {
    return await network.account(accessToken, organizationId)
  } catch (error) {
    if (!(error instanceof GrantFailure) || !error.permanent) throw error
    const account = await network.account(await usableToken(job, network, row, accessToken), organizationId).catch(again => {
      // The network has just renewed the token, so it is valid: only the check failed.
      throw again instanceof GrantFailure ? new GrantFailure(again.message, false, again) : again
    })
    return account
  }
}
