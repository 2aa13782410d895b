import { newId } from '../../../../platform/ids.ts'
import type { OrganizationRow } from '../../../../subgraphs/identity/stores/organization.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { identityOf } from '../../../kit/identity.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An organization without members. */
export async function seedOrganization({ database, clock }: Pick<Supergraph, 'database' | 'clock'>): Promise<OrganizationRow> {
  const identity = identityOf(database.sequelize, clock)
  const now = clock.now()
  const id = newId(now)
  const row = { id, slug: `organization-${id.slice(-12)}`, name: `Organization ${id.slice(-4)}`, createdAt: now, updatedAt: now, createdBy: 'platform' }
  return inTransaction(identity, ({ transaction }) => identity.organizations.insert(row, transaction))
}
