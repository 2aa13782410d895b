import { expect } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { steer } from '../../subgraphs/launcher/catalog/seed.ts'
import { seedBundle, seedProcessor } from '../../subgraphs/launcher/commerce/seed.ts'
import type { Exchanges } from './exchange.ts'

const api = '/launcher/api'
const billing = `${api}/billing`
const back = { returnTo: '/settings' }
const opened = { id: expect.any(String), url: expect.stringContaining('/checkout/') }

/** Bundles, verifications and seats. */
export const commerce: Exchanges = world => {
  let isReady: Promise<void> | undefined
  const forget = async () => {
    for (const table of ['billing_subscriptions', 'seats', 'leads']) await world().graph.rows(`delete from launcher.${table}`)
  }
  const ready = () => {
    isReady ??= seedProcessor(world().graph)
    return isReady
  }
  const unsubscribed = async () => {
    await ready()
    await forget()
    return ''
  }
  /** Has the organization pay for a bundle that the processor knows. */
  const subscribed = async () => {
    await unsubscribed()
    const { graph, organizationId } = world()
    const made = await steer<{ id: string; customerId: string; itemId: string }>(graph, 'objects', { network: 'stripe', object: 'subscription', quantity: 50 })
    const id = await seedBundle(graph, organizationId)
    await graph.rows(
      'update launcher.billing_subscriptions set processor_subscription_id = $2, processor_customer_id = $3, processor_item_id = $4 where id = $1',
      [...[id, made.id, made.customerId, made.itemId]],
    )
    return id
  }
  const claimable = async () => {
    await unsubscribed()
    const { graph } = world()
    const [lead, id, at] = [newId(), newId(), graph.clock.now()]
    await graph.rows(
      `insert into launcher.leads (id, kind, email, created_at, updated_at, created_by) values ($1, 'CHECKOUT', 'owner@test.test', $2, $2, 'test')`,
      [lead, at],
    )
    await graph.rows(
      `insert into launcher.billing_subscriptions (id, owner_type, owner_id, package, interval, status, seats, unit_minor, currency, processor_subscription_id,
         processor_customer_id, processor_item_id, learned_at, created_at, updated_at, created_by)
       values ($1, 'LEAD', $2, 'THREE', 'MONTH', 'ACTIVE', 1, 1500, 'USD', $3, 'cus_lead', 'si_lead', $4, $4, $4, 'test')`,
      [id, lead, `sub_${id}`, at],
    )
    return id
  }
  /** @returns the owner, who holds a seat */
  const seated = async () => {
    await subscribed()
    const { graph, organizationId, owner } = world()
    await graph.rows(
      `insert into launcher.seats (id, organization_id, user_id, kind, assigned_at, created_at, updated_at, created_by) values ($1, $2, $3, 'HUMAN', $4, $4, $4, 'test')`,
      [newId(), organizationId, owner.userId, graph.clock.now()],
    )
    return owner.userId!
  }
  let claimed = ''
  return {
    [`GET ${api}/entitlements`]: {
      path: () => `${api}/entitlements`,
      make: unsubscribed,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { plan: 'none', platformApps: { limit: 0 }, storeApps: { limit: null } } }),
    },
    [`GET ${billing}/subscriptions`]: {
      path: () => `${billing}/subscriptions`,
      make: subscribed,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { subscriptions: [expect.objectContaining({ package: 'everything', status: 'active', seats: 50 })] } }),
    },
    [`GET ${billing}/verifications`]: {
      path: () => `${billing}/verifications`,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { verifications: [] } }),
    },
    [`GET ${billing}/claimable`]: {
      path: () => `${billing}/claimable`,
      make: claimable,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { subscriptions: [expect.objectContaining({ ownerType: 'lead' })] } }),
    },
    [`POST ${billing}/checkout`]: {
      path: () => `${billing}/checkout`,
      make: unsubscribed,
      body: () => ({ package: 'five', interval: 'year', seats: 4, ...back }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: opened }),
    },
    [`POST ${billing}/free-workspace`]: {
      path: () => `${billing}/free-workspace`,
      make: unsubscribed,
      body: () => back,
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: opened }),
    },
    [`POST ${billing}/portal`]: {
      path: () => `${billing}/portal`,
      make: subscribed,
      body: () => back,
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { url: expect.stringContaining('/portal/') } }),
    },
    [`POST ${billing}/claim`]: {
      path: () => `${billing}/claim`,
      async make() {
        claimed = await claimable()
        return claimed
      },
      body: () => ({ id: claimed || newId() }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { id: claimed, ownerType: 'organization' } }),
    },
    [`POST ${billing}/preview`]: {
      path: () => `${billing}/preview`,
      make: unsubscribed,
      body: () => ({ package: 'five', seats: 3 }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { recurring: { amountMinor: 6600, currency: 'USD' } } }),
    },
    [`GET ${billing}/seats`]: {
      path: () => `${billing}/seats`,
      make: seated,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { seats: [expect.objectContaining({ kind: 'human' })], totalCount: 1 } }),
    },
    [`PUT ${billing}/seats`]: {
      path: () => `${billing}/seats`,
      make: subscribed,
      body: () => ({ quantity: 60 }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { seats: 60 } }),
    },
    [`PUT ${billing}/seats/:userId`]: {
      path: id => `${billing}/seats/${id}`,
      make: seated,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { userId: id, kind: 'human' } }),
    },
    [`DELETE ${billing}/seats/:userId`]: {
      path: id => `${billing}/seats/${id}`,
      make: seated,
      forbidden: 'viewer',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`POST ${api}/internal/seats/reconcile`]: {
      path: () => `${api}/internal/seats/reconcile`,
      make: subscribed,
      body: () => ({ organizationId: world().organizationId }),
      forbidden: 'owner',
      by: 'launcher',
      answers: () => ({ status: 200, json: { organizations: 1 } }),
    },
  }
}
