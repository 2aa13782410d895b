import type { Sequelize } from 'sequelize'
import { newId } from '../../platform/ids.ts'

/**
 * Writes a bundle of an organization as if it had been paid, past every rule.
 * @param name a bundle as the graph names it @default EVERYTHING
 * @returns its id
 */
export async function insertBundle(sequelize: Sequelize, organizationId: string, now: Date, name = 'EVERYTHING', seats = 50): Promise<string> {
  const id = newId()
  await sequelize.query(
    `insert into launcher.billing_subscriptions (id, owner_type, owner_id, package, interval, status, seats, unit_minor, currency, processor_subscription_id,
       processor_customer_id, processor_item_id, learned_at, created_at, updated_at, created_by)
     values ($1, 'ORGANIZATION', $2, $3, 'MONTH', 'ACTIVE', $4, 4900, 'USD', $5, 'cus_seed', 'si_seed', $6, $6, $6, 'test')`,
    { bind: [id, organizationId, name, seats, `sub_${id.replaceAll('-', '')}`, now] },
  )
  return id
}

/** Pays for the platform's apps and installs them, past every rule: without that an organization sees no widget of theirs. */
export async function payFor(sequelize: Sequelize, organizationId: string, now: Date): Promise<void> {
  await sequelize.query(
    `insert into launcher.installations (id, app, organization_id, installed_at, created_at, updated_at, created_by)
     select gen_random_uuid(), app, $1, $2, $2, $2, 'platform' from unnest(array['agents', 'payments', 'providers', 'publishing']) app`,
    { bind: [organizationId, now] },
  )
  await insertBundle(sequelize, organizationId, now)
}
