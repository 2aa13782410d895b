import type { Sequelize, Transaction } from 'sequelize'
import type { Clock } from '../../../platform/clock.ts'
import { crash } from '../../../platform/crash.ts'
import type { Gate } from '../../../platform/gate.ts'
import type { Audit } from '../audit.ts'
import { GrantFailure, type Network } from '../network/network.ts'
import { mustRenew } from './rules.ts'
import type { ConnectionStore } from './store.ts'
import type { ConnectionRow } from './table.ts'

export interface TokensNeed {
  readonly sequelize: Sequelize
  readonly connections: ConnectionStore
  readonly clock: Clock
  readonly audit: Audit
  /** Renewing holds a database connection while the network thinks: a slow network must not take them all. */
  readonly renewals: Gate
}

/**
 * Hands out an access token that can be used now, renewing it first when it is about to expire or was refused.
 *
 * Refresh tokens are single use, and a network that sees one twice revokes all that came of it. So renewing holds the
 * row's lock, reads the row again (another worker may have been faster), and keeps the new tokens before they are used.
 * @param refused the access token that the network has just answered 401 to
 * @throws GrantFailure; when it is permanent the connection has been taken out of use
 */
export async function usableToken(
  { sequelize, connections, clock, audit, renewals }: TokensNeed,
  network: Network,
  row: ConnectionRow,
  refused?: string,
): Promise<string> {
  if (refused === undefined && !mustRenew(row.tokenExpiresAt, clock.now())) return connections.open(row).accessToken
  const failure = { permanent: null as GrantFailure | null }
  const renew = async (transaction: Transaction): Promise<string> => {
    const locked = await connections.lock(row.brandId, row.id, transaction)
    if (!locked?.active) throw new GrantFailure('The connection is not active any more.', true)
    const { accessToken, refreshToken } = connections.open(locked)
    const renewedMeanwhile = refused === undefined ? !mustRenew(locked.tokenExpiresAt, clock.now()) : accessToken !== refused
    if (renewedMeanwhile) return accessToken
    try {
      if (refreshToken === null) throw new GrantFailure('The network gave nothing to renew the access with.', true)
      const grant = await network.refresh(refreshToken)
      crash('after-refresh')
      await connections.renew(locked, grant, clock.now(), transaction)
      return grant.accessToken
    } catch (error) {
      if (!(error instanceof GrantFailure && error.permanent)) throw error
      await connections.deactivate(locked, `${error.message}: connect the account again.`, clock.now(), transaction)
      await audit(transaction, {
        brandId: row.brandId,
        actor: 'delivery',
        action: 'connection.deactivated',
        subjectId: row.id,
        at: clock.now(),
        details: { reason: error.message },
      })
      failure.permanent = error
      return ''
    }
  }
  const token = await renewals(() => sequelize.transaction(renew))
  if (failure.permanent) throw failure.permanent
  return token
}
