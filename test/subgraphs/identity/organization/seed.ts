import { newId } from '../../../../platform/ids.ts'
import type { OrganizationRow } from '../../../../subgraphs/identity/stores/organization.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { identityOf } from '../../../kit/identity.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An organization without members, which has paid for the platform's apps and installed them. */
export async function seedOrganization({ database, clock }: Pick<Supergraph, 'database' | 'clock'>): Promise<OrganizationRow> {
  const identity = identityOf(database.sequelize, clock)
  const now = clock.now()
  const id = newId(now)
  const row = { id, slug: `organization-${id.slice(-12)}`, name: `Organization ${id.slice(-4)}`, createdAt: now, updatedAt: now, createdBy: 'platform' }
  await database.sequelize.query(
    `insert into launcher.installations (id, app, organization_id, installed_at, created_at, updated_at, created_by)
     select gen_random_uuid(), app, $1, $2, $2, $2, 'platform' from unnest(array['agents', 'payments', 'providers', 'publishing']) app`,
    { bind: [id, now] },
  )
  await database.sequelize.query(
    `insert into launcher.billing_subscriptions (id, owner_type, owner_id, package, interval, status, seats, unit_minor, currency, processor_subscription_id,
       processor_customer_id, processor_item_id, learned_at, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'ORGANIZATION', $1, 'EVERYTHING', 'MONTH', 'ACTIVE', 50, 4900, 'USD', $3, 'cus_seed', 'si_seed', $2, $2, $2, 'platform')`,
    { bind: [id, now, `sub_${id.replaceAll('-', '')}`] },
  )
  return inTransaction(identity, ({ transaction }) => identity.organizations.insert(row, transaction))
}
