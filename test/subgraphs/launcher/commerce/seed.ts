import { createHmac } from 'node:crypto'
import { expect, vi } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { insertBundle } from '../../../kit/paid.ts'
import { billingSecret, type Supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from '../../providers/credential/seed.ts'
import { steer } from '../catalog/seed.ts'

type Graph = Pick<Supergraph, 'rows' | 'clock' | 'database'>

/** Gives an organization a bundle as if it had been paid, and seats to people. @returns its id */
export async function seedBundle(
  graph: Graph,
  organizationId: string,
  { package: name = 'EVERYTHING', seats = 50, holders = [] }: { package?: string; seats?: number; holders?: readonly (string | null)[] } = {},
): Promise<string> {
  const at = graph.clock.now()
  const id = await insertBundle(graph.database.sequelize, organizationId, at, name, seats)
  for (const userId of holders)
    await graph.rows(
      `insert into launcher.seats (id, organization_id, user_id, kind, assigned_at, created_at, updated_at, created_by)
       values ($1, $2, $3, 'HUMAN', $4, $4, $4, 'test')`,
      [newId(), organizationId, userId, at],
    )
  return id
}

/** Lets the launcher have its calls made at the gateway, as a client of it. */
export async function seedLauncherClient(graph: Graph): Promise<void> {
  await graph.rows(
    `insert into providers.service_clients (id, app_id, name, operations, active, created_at, updated_at, created_by)
     values ($1, 'app_launcher', 'Launcher', '{EMAIL,PAYMENTS}', true, $2, $2, 'test') on conflict do nothing`,
    [newId(), graph.clock.now()],
  )
}

/** Lets the platform pay at the sandbox's processor: with a credential of its own, on the account of its organization. */
export async function seedProcessor(graph: Supergraph): Promise<void> {
  const present = await graph.rows(`select id from providers.credentials where provider = 'stripe' and organization_id is null`)
  if (present.length === 0)
    await seedCredential(graph, { organizationId: null, provider: 'stripe', name: 'Stripe of the platform', secret: 'sk_test_of_the_platform' })
  await seedLauncherClient(graph)
  const known = async () => expect(await graph.rows('select organization_id from providers.platform')).toHaveLength(1)
  await vi.waitFor(known, { timeout: 30_000, interval: 50 })
}

/** A bundle that the processor knows and that somebody bought with a mail address, without an account. @returns its id */
export async function seedClaimable(graph: Supergraph, email: string): Promise<string> {
  const made = await steer<{ id: string; customerId: string; itemId: string }>(graph, 'objects', { network: 'stripe', object: 'subscription', quantity: 50 })
  const [lead, at] = [newId(), graph.clock.now()]
  const id = await seedBundle(graph, lead)
  await graph.rows(`insert into launcher.leads (id, kind, email, created_at, updated_at, created_by) values ($1, 'CHECKOUT', $2, $3, $3, 'test')`, [
    lead,
    email,
    at,
  ])
  await graph.rows(
    `update launcher.billing_subscriptions set owner_type = 'LEAD', processor_subscription_id = $2, processor_customer_id = $3, processor_item_id = $4 where id = $1`,
    [id, made.id, made.customerId, made.itemId],
  )
  return id
}

/** A free workspace that was bought without an account. @param email with which; an account may have it verified */
export async function seedClaimableVerification(graph: Pick<Supergraph, 'rows' | 'clock'>, email: string): Promise<string> {
  const [lead, id, at] = [newId(), newId(), graph.clock.now()]
  await graph.rows(`insert into launcher.leads (id, kind, email, created_at, updated_at, created_by) values ($1, 'CHECKOUT', $2, $3, $3, 'test')`, [
    ...[lead, email, at],
  ])
  await graph.rows(
    `insert into launcher.workspace_verifications (id, owner_type, owner_id, status, unit_minor, currency, processor_subscription_id, processor_customer_id,
       learned_at, reconciled_at, created_at, updated_at, created_by)
     values ($1, 'LEAD', $2, 'ACTIVE', 100, 'USD', $3, 'cus_lead', $4, $4, $4, $4, 'test')`,
    [id, lead, `sub_${id}`, at],
  )
  return id
}

/** A subscription at the processor. */
export interface SubscriptionFields {
  readonly id: string
  readonly owner: string
  readonly ownerType?: string
  readonly pack?: string
  readonly kind?: string
  readonly status?: string
  readonly quantity?: number
  readonly unit?: number
  readonly interval?: string
}

/** An event about a subscription, as the processor writes one. @param at seconds since 1970 */
export function subscriptionEvent(type: string, fields: SubscriptionFields, at: number, event: string = `evt_${newId().replaceAll('-', '')}`) {
  const { id, owner, ownerType = 'organization', pack = 'three', kind = 'bundle', status = 'active', quantity = 3, unit = 1500, interval = 'month' } = fields
  const end = at + 2_592_000
  const price = { id: `price_${pack}_${interval}`, object: 'price', unit_amount: unit, currency: 'usd', recurring: { interval, interval_count: 1 } }
  const object = {
    ...{ id, object: 'subscription', customer: 'cus_test', status, cancel_at_period_end: false, current_period_end: end },
    metadata: { owner_type: ownerType, owner_id: owner, package: pack, kind },
    items: { object: 'list', data: [{ id: `si_${id}`, object: 'subscription_item', quantity, current_period_end: end, price }] },
  }
  return { id: event, object: 'event', type, created: at, livemode: false, data: { object } }
}

/** Posts an event of the processor, signed. */
export function post(
  graph: Pick<Supergraph, 'platform' | 'clock'>,
  event: object,
  as: Viewer,
  { secret = billingSecret, ago = 0 }: { secret?: string; ago?: number } = {},
): Promise<Response> {
  const body = JSON.stringify(event)
  const seconds = Math.floor(graph.clock.now().getTime() / 1000) - ago
  const signature = `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
  const request = new Request('http://launcher/launcher/api/webhooks/subscriptions', { method: 'POST', headers: { 'stripe-signature': signature }, body })
  return graph.platform.launcher.http!(request, as)
}
