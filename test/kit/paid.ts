import type { Sequelize } from 'sequelize'

/** Pays for the platform's apps and installs them, past every rule: without that an organization sees no widget of theirs. */
export async function payFor(sequelize: Sequelize, organizationId: string, now: Date): Promise<void> {
  await sequelize.query(
    `insert into launcher.installations (id, app, organization_id, installed_at, created_at, updated_at, created_by)
     select gen_random_uuid(), app, $1, $2, $2, $2, 'platform' from unnest(array['agents', 'payments', 'providers', 'publishing']) app`,
    { bind: [organizationId, now] },
  )
  await sequelize.query(
    `insert into launcher.billing_subscriptions (id, owner_type, owner_id, package, interval, status, seats, unit_minor, currency, processor_subscription_id,
       processor_customer_id, processor_item_id, learned_at, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'ORGANIZATION', $1, 'EVERYTHING', 'MONTH', 'ACTIVE', 50, 4900, 'USD', $3, 'cus_seed', 'si_seed', $2, $2, $2, 'platform')`,
    { bind: [organizationId, now, `sub_${organizationId.replaceAll('-', '')}`] },
  )
}
