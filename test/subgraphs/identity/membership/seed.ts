import { newId } from '../../../../platform/ids.ts'
import type { MembershipRow } from '../../../../subgraphs/identity/stores/membership.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { identityOf } from '../../../kit/identity.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** What a person is in an organization. */
export async function seedMembership(
  { database, clock }: Pick<Supergraph, 'database' | 'clock'>,
  { organizationId, userId, role }: { organizationId: string; userId: string; role: string },
): Promise<MembershipRow> {
  const identity = identityOf(database.sequelize, clock)
  const now = clock.now()
  const row = { organizationId, id: newId(now), userId, roles: [role], createdAt: now, updatedAt: now, createdBy: 'platform' }
  return inTransaction(identity, ({ transaction }) => identity.memberships.insert(row, transaction))
}
