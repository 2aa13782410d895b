import { newId } from '../../../../platform/ids.ts'
import type { OrganizationRow } from '../../../../subgraphs/identity/stores/organization.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { identityOf } from '../../../kit/identity.ts'
import { payFor } from '../../../kit/paid.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An organization without members, which has paid for the platform's apps and installed them. */
export async function seedOrganization({ database, clock }: Pick<Supergraph, 'database' | 'clock'>): Promise<OrganizationRow> {
  const identity = identityOf(database.sequelize, clock)
  const now = clock.now()
  const id = newId(now)
  const row = { id, slug: `organization-${id.slice(-12)}`, name: `Organization ${id.slice(-4)}`, createdAt: now, updatedAt: now, createdBy: 'platform' }
  await payFor(database.sequelize, id, now)
  return inTransaction(identity, ({ transaction }) => identity.organizations.insert(row, transaction))
}
