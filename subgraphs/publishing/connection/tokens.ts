import { setTimeout as sleep } from 'node:timers/promises'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../platform/clock.ts'
import { crash } from '../../../platform/crash.ts'
import { newId } from '../../../platform/ids.ts'
import type { Audit } from '../audit.ts'
import { type Grant, GrantFailure, type Network } from '../network/network.ts'
import { isBeingRenewed, mustRenew, renewalMs, waitForTokenMs } from './rules.ts'
import type { ConnectionStore } from './store.ts'
import type { ConnectionRow } from './table.ts'

export interface TokensNeed {
  readonly sequelize: Sequelize
  readonly connections: ConnectionStore
  readonly clock: Clock
  readonly audit: Audit
  /** The renewals that are under way in this process, by connection: who comes meanwhile waits for the same one. */
  readonly renewals: Map<string, Promise<string>>
}

/** How often a worker looks whether another process has ended its renewal, in ms. */
const lookEveryMs = 250

/**
 * Hands out an access token that can be used now, renewing it first when it is about to expire or was refused.
 *
 * Refresh tokens are single use, and a network that sees one twice revokes all that came of it. So whoever renews claims it in
 * the row, reads the row again (another worker may have been faster), and keeps the new tokens before they are used. While the
 * network thinks nothing is locked: whoever connects the account again meanwhile is not held up, and wins.
 * @param refused the access token that the network has just answered 401 to
 * @throws GrantFailure; when it is permanent the connection has been taken out of use
 */
export async function usableToken(need: TokensNeed, network: Network, row: ConnectionRow, refused?: string): Promise<string> {
  const { connections, clock, renewals } = need
  if (refused === undefined && !mustRenew(row.tokenExpiresAt, clock.now())) return connections.open(row).accessToken
  for (let running = renewals.get(row.id); running; running = renewals.get(row.id)) {
    const token = await running
    if (token !== refused) return token
  }
  const renewal = renew(need, network, row, refused).finally(() => renewals.delete(row.id))
  renewals.set(row.id, renewal)
  return renewal
}

/**
 * The same for whoever holds a post meanwhile, under a claim that is made for short waits: a renewal that takes longer goes on, and
 * its token is there for the next try.
 * @throws GrantFailure, for now, when the wait is over
 */
export async function tokenSoon(need: TokensNeed, network: Network, row: ConnectionRow, refused?: string, waitMs: number = waitForTokenMs): Promise<string> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new GrantFailure('the network takes long to renew the access', false)), waitMs)
  try {
    return await Promise.race([usableToken(need, network, row, refused), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function renew(need: TokensNeed, network: Network, row: ConnectionRow, refused: string | undefined): Promise<string> {
  // A clock may stand still or be set back: whoever has waited as long as a claim lives takes over whatever the row says.
  for (let waited = 0; ; waited += lookEveryMs) {
    const found = await claim(need, row, refused, waited >= renewalMs)
    if (found.claimed) return claimed(need, network, found.claimed)
    if (found.token !== null) return found.token
    await sleep(lookEveryMs)
  }
}

interface Claimed {
  readonly row: ConnectionRow
  readonly id: string
}

/** Claims the renewal; or finds the token that somebody else has brought meanwhile; or neither, while another process is at it. */
async function claim(
  { sequelize, connections, clock }: TokensNeed,
  { brandId, id }: ConnectionRow,
  refused: string | undefined,
  impatient: boolean,
): Promise<{ claimed: Claimed; token?: never } | { claimed?: never; token: string | null }> {
  return sequelize.transaction(async transaction => {
    const row = await connections.lock(brandId, id, transaction)
    if (!row?.active) throw new GrantFailure('The connection is not active any more.', true)
    const now = clock.now()
    const { accessToken } = connections.open(row)
    const renewedMeanwhile = refused === undefined ? !mustRenew(row.tokenExpiresAt, now) : accessToken !== refused
    if (renewedMeanwhile) return { token: accessToken }
    if (isBeingRenewed(row, now) && !impatient) return { token: null }
    const renewalId = newId(now)
    await connections.claimRenewal(row, renewalId, new Date(now.getTime() + renewalMs), transaction)
    return { claimed: { row, id: renewalId } }
  })
}

/** Renews what this worker has claimed. */
async function claimed(need: TokensNeed, network: Network, { row, id }: Claimed): Promise<string> {
  const { refreshToken } = need.connections.open(row)
  let end: Grant | GrantFailure
  try {
    end = refreshToken === null ? new GrantFailure('The network gave nothing to renew the access with.', true) : await network.refresh(refreshToken)
  } catch (error) {
    if (!(error instanceof GrantFailure && error.permanent)) {
      await need.connections.releaseRenewal(row, id)
      throw error
    }
    end = error
  }
  crash('after-refresh')
  return keep(need, row, id, end)
}

/** Writes how a renewal ended. When the claim is gone, somebody has connected the account again or taken over: what they brought counts. */
async function keep({ sequelize, connections, clock, audit }: TokensNeed, row: ConnectionRow, id: string, end: Grant | GrantFailure): Promise<string> {
  const kept = await sequelize.transaction(async transaction => {
    const locked = await connections.lock(row.brandId, row.id, transaction)
    if (!locked?.active) throw new GrantFailure('The connection is not active any more.', true)
    if (locked.renewalId !== id) return connections.open(locked).accessToken
    const now = clock.now()
    if (!(end instanceof GrantFailure)) {
      await connections.renew(locked, end, now, transaction)
      return end.accessToken
    }
    await connections.deactivate(locked, `${end.message}: connect the account again.`, now, transaction)
    await audit(transaction, {
      brandId: row.brandId,
      actor: 'delivery',
      action: 'connection.deactivated',
      subjectId: row.id,
      at: now,
      details: { reason: end.message },
    })
    return end
  })
  if (kept instanceof GrantFailure) throw kept
  return kept
}
