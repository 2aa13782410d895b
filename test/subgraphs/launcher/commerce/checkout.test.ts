import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { reconcile } from '../../../../subgraphs/launcher/engines/commerce/reconcile.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { anonymous } from '../../../kit/viewers.ts'
import { steer } from '../catalog/seed.ts'
import { seedProcessor, subscriptionEvent } from './seed.ts'
import { type BillingStage, billingStage, entitlements, subscriptions } from './stage.ts'

let stage: BillingStage
beforeAll(async () => {
  stage = await billingStage({ sandbox: true, now: new Date().toISOString() })
  await seedProcessor(stage.graph)
})
beforeEach(async () => {
  for (const table of ['billing_subscriptions', 'workspace_verifications', 'billing_checkouts', 'processor_events', 'seats', 'seat_accounts', 'rates'])
    await stage.graph.rows(`delete from launcher.${table}`)
  former = new Set((await eventsMade()).map(({ id }) => id))
})
afterAll(() => stage[Symbol.asyncDispose]())

const page = 'id url expiresAt'
const checkout = (as: Viewer, input: object) => stage.change(as, 'createBundleCheckout', { package: 'FIVE', returnTo: '/settings', ...input }, page)
const bought = async (as = stage.boss) => (await stage.ask(as, subscriptions)).data().billingSubscriptions
const approve = (url: string) => fetch(`${url}?sandbox_approve=1`, { redirect: 'manual' })

interface Event {
  readonly id: string
  readonly type: string
}

/** Events of former tests, whose rows are gone. */
let former: ReadonlySet<string>

/** Returns the events of the sandbox's processor, the oldest first. */
async function eventsMade(): Promise<readonly Event[]> {
  const answer = await fetch(`${stage.graph.x.origin}/stripe/v1/events?limit=100`, { headers: { authorization: 'Bearer sk_test_of_the_platform' } })
  return ((await answer.json()) as { data: Event[] }).data.toReversed()
}

/** Delivers the events that the sandbox's processor has made in this test, as it would send them. */
async function deliverAll(types = /subscription|checkout/): Promise<void> {
  for (const event of await eventsMade()) if (types.test(event.type) && !former.has(event.id)) await stage.deliver(event)
}

describe('createBundleCheckout', () => {
  it('carries bundle and owner to the processor, and what is paid there opens apps and seats', async () => {
    const opened = (await checkout(stage.boss, { interval: 'YEAR', seats: 4 })).data().createBundleCheckout
    const sent = await steer<{ path: string; metadata: object }[]>(stage.graph, 'received?network=stripe')
    expect(sent.findLast(({ path }) => path === '/v1/checkout/sessions')?.metadata).toEqual({
      ...{ owner_type: 'organization', owner_id: stage.organizationId, package: 'five', kind: 'bundle' },
    })
    const end = await approve(opened.url)
    expect([end.status, end.headers.get('location')]).toEqual([303, expect.stringMatching(/\/settings$/)])
    await deliverAll()
    expect(await bought()).toEqual([
      expect.objectContaining({ package: 'FIVE', interval: 'YEAR', status: 'ACTIVE', seats: 4, amount: { amountMinor: 88_000, currency: 'USD' } }),
    ])
    expect((await stage.ask(stage.boss, entitlements)).data().entitlements).toMatchObject({ plan: 'FIVE', seats: { total: 4 } })
    expect((await checkout(stage.boss, {})).refused('CONFLICT').extensions.reason).toBe('SUBSCRIBED')
  })

  it('learns of a bundle by its page alone, when no other event comes', async () => {
    const opened = (await checkout(stage.boss, { seats: 2 })).data().createBundleCheckout
    await approve(opened.url)
    await deliverAll(/checkout/)
    expect(await bought()).toEqual([expect.objectContaining({ package: 'FIVE', seats: 2, status: 'ACTIVE', amount: { amountMinor: 4400, currency: 'USD' } })])
  })

  it('closes the other pages of the owner once one is paid', async () => {
    const [first, second] = [
      (await checkout(stage.boss, {})).data().createBundleCheckout,
      (await checkout(stage.boss, { package: 'TEN' })).data().createBundleCheckout,
    ]
    await approve(first.url)
    await deliverAll()
    expect((await approve(second.url)).status).toBe(410)
    expect(await bought()).toHaveLength(1)
  })

  it('opens one page for a repeated key, and goes on with it after the processor could not be reached', async () => {
    const once = { seats: 3, idempotencyKey: newId() }
    await steer(stage.graph, 'faults', { network: 'stripe', fault: 'status', status: 500, times: 20 })
    const failed = await checkout(stage.boss, once)
    expect(failed.partial.errors).toHaveLength(1)
    await steer(stage.graph, 'faults', { network: 'stripe', fault: 'none' })
    const pages = []
    for (let count = 0; count < 3; count += 1) pages.push((await checkout(stage.boss, once)).data().createBundleCheckout)
    expect(new Set(pages.map(({ url }) => url)).size).toBe(1)
    expect(await stage.graph.rows('select id from launcher.billing_checkouts')).toHaveLength(1)
  })

  it('refuses a page elsewhere, ordinary members, keys, and seats out of bounds', async () => {
    ;(await checkout(stage.boss, { returnTo: 'https://evil.example/' })).refused('BAD_USER_INPUT')
    ;(await checkout(stage.boss, { seats: 0 })).refused('BAD_USER_INPUT')
    ;(await checkout(stage.plain, {})).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await checkout({ ...stage.boss, kind: 'apiKey', userId: null, keyId: newId(), roles: [] }, {})).refused('FORBIDDEN')
  })
})

describe('createFreeWorkspaceCheckout', () => {
  it('verifies a workspace for one dollar a year, apart from paid bundles', async () => {
    const opened = (await stage.change(stage.boss, 'createFreeWorkspaceCheckout', { returnTo: '/dashboard' }, page)).data().createFreeWorkspaceCheckout
    await approve(opened.url)
    await deliverAll()
    const query =
      '{ billingSubscriptions { id } workspaceVerifications { status amount { amountMinor currency } verifiedAt currentPeriodEnd } entitlements { plan platformApps { limit } } }'
    const answer = (await stage.ask(stage.boss, query)).data()
    expect(answer).toMatchObject({
      billingSubscriptions: [],
      workspaceVerifications: [{ status: 'ACTIVE', amount: { amountMinor: 100, currency: 'USD' }, verifiedAt: expect.any(String) }],
      entitlements: { plan: 'FREE_WORKSPACE', platformApps: { limit: 1 } },
    })
    expect((Date.parse(answer.workspaceVerifications[0].currentPeriodEnd) - stage.graph.clock.now().getTime()) / 86_400_000).toBeCloseTo(365, 0)
  })
})

describe('a bill', () => {
  it('is the plain price without a subscription, and the processor’s with one', async () => {
    const preview = (seats: number) =>
      stage.ask(
        stage.boss,
        `{ billingPreview(package: TEN, seats: ${seats}) { dueNow { amountMinor } recurring { amountMinor currency } lines { quantity } } }`,
      )
    expect((await preview(3)).data().billingPreview).toEqual({
      dueNow: { amountMinor: 10_500 },
      recurring: { amountMinor: 10_500, currency: 'USD' },
      lines: [{ quantity: 3 }],
    })
    expect((await stage.change(stage.boss, 'createBillingPortal', { returnTo: '/settings' }, 'url')).refused('CONFLICT').extensions.reason).toBe(
      'NOT_SUBSCRIBED',
    )
    await approve((await checkout(stage.boss, { seats: 2 })).data().createBundleCheckout.url)
    await deliverAll()
    expect((await preview(5)).data().billingPreview).toEqual({
      dueNow: { amountMinor: 17_500 },
      recurring: { amountMinor: 17_500, currency: 'USD' },
      lines: [{ quantity: 5 }],
    })
    const { url } = (await stage.change(stage.boss, 'createBillingPortal', { returnTo: '/settings' }, 'url')).data().createBillingPortal
    expect((await fetch(url)).status).toBe(200)
  })
})

describe('seats', () => {
  const seats = async () => (await stage.ask(stage.boss, '{ seats { nodes { kind user { id } } } }')).data().seats.nodes
  const change = (quantity: number) => stage.change(stage.boss, 'changeSeats', { quantity }, 'seats')
  const launching = async (as: Viewer) =>
    (await stage.change(as, 'launchApp', { app: 'publishing', source: 'CATALOGUE' }, 'failure { code }')).data().launchApp.failure?.code
  const buy = async (quantity: number) => {
    await approve((await checkout(stage.boss, { package: 'EVERYTHING', seats: quantity })).data().createBundleCheckout.url)
    await deliverAll()
    await stage.giveSeats()
    await expect.poll(async () => (await seats()).length).toBe(Math.min(quantity, 2))
  }

  it('are given in order of joining, and managers are told when none is left', async () => {
    await buy(1)
    expect(await seats()).toEqual([{ kind: 'HUMAN', user: { id: stage.boss.userId } }])
    const exhausted = () => stage.graph.rows(`select status, title from launcher.action_items where kind = 'SEATS_EXHAUSTED'`)
    expect(await exhausted()).toEqual([{ status: 'OPEN', title: '1 member waits for a seat' }])
    ;(await stage.change(stage.boss, 'installApp', { app: 'publishing' })).data()
    expect(await launching(stage.plain)).toBe('NO_SEAT')
    expect(await launching(stage.boss)).not.toBe('NO_SEAT')
    expect((await change(2)).data().changeSeats.seats).toBe(2)
    await stage.giveSeats()
    await expect.poll(async () => (await seats()).length).toBe(2)
    expect(await launching(stage.plain)).not.toBe('NO_SEAT')
    await expect.poll(exhausted).toEqual([expect.objectContaining({ status: 'RESOLVED' })])
    expect((await change(1)).refused('CONFLICT').extensions.reason).toBe('SEATS_IN_USE')
  })

  it('are released and assigned by managers, and a released one is not given back by itself', async () => {
    await buy(2)
    const one = { userId: stage.plain.userId }
    ;(await stage.change(stage.boss, 'releaseSeat', one)).data()
    ;(await stage.change(stage.boss, 'releaseSeat', one)).refused('NOT_FOUND')
    await stage.giveSeats()
    expect(await seats()).toHaveLength(1)
    ;(await stage.change(stage.boss, 'assignSeat', { userId: stage.stranger.userId })).refused('NOT_FOUND')
    ;(await stage.change(stage.boss, 'assignSeat', one)).data()
    expect(await seats()).toHaveLength(2)
  })

  it('follow what the processor says, for the launcher’s own service alone', async () => {
    await buy(2)
    const [{ id, processorSubscriptionId }] = await bought()
    await steer(stage.graph, 'objects', { network: 'stripe', object: 'subscription', id: processorSubscriptionId, quantity: 1 })
    const service = (appId: string): Viewer => ({ ...anonymous, kind: 'service', appId })
    const mutation = `mutation { reconcileSeats(input: { organizationId: "${stage.organizationId}" }) { organizations released assigned corrected } }`
    ;(await stage.ask(stage.boss, mutation)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await stage.ask(service('app_agents'), mutation)).refused('FORBIDDEN')
    expect((await stage.ask(service('app_launcher'), mutation)).data().reconcileSeats).toEqual({ organizations: 1, released: 1, assigned: 0, corrected: 1 })
    expect(await seats()).toEqual([{ kind: 'HUMAN', user: { id: stage.boss.userId } }])
    expect(await bought()).toEqual([expect.objectContaining({ id, seats: 1 })])
    expect(await reconcile(stage.graph.platform.launcher.job('test'), stage.organizationId)).toMatchObject({ released: 0, assigned: 0, corrected: 0 })
  })
})

describe('what is done again under one key', () => {
  const bundle = async () => {
    await approve((await checkout(stage.boss, { package: 'EVERYTHING', seats: 2 })).data().createBundleCheckout.url)
    await deliverAll()
    return (await bought())[0].processorSubscriptionId as string
  }
  const change = (quantity: number, idempotencyKey?: string) => stage.change(stage.boss, 'changeSeats', { quantity, idempotencyKey }, 'seats')
  const portal = (returnTo: string, idempotencyKey: string) => stage.change(stage.boss, 'createBillingPortal', { returnTo, idempotencyKey }, 'url')
  const atProcessor = async (id: string): Promise<number> => {
    const answer = await fetch(`${stage.graph.x.origin}/stripe/v1/subscriptions/${id}`, { headers: { authorization: 'Bearer sk_test_of_the_platform' } })
    return ((await answer.json()) as { items: { data: { quantity: number }[] } }).items.data[0]!.quantity
  }

  it('leaves as many seats as the processor has, when another change came between', async () => {
    const id = await bundle()
    const key = newId()
    for (const [quantity, idempotencyKey, seats] of [
      [7, key, 7],
      [4, undefined, 4],
      [7, key, 4],
    ] as const)
      expect((await change(quantity, idempotencyKey)).data().changeSeats.seats).toBe(seats)
    expect([await atProcessor(id), (await bought())[0].seats]).toEqual([4, 4])
  })

  it('is refused with another content, and under a key that none can be', async () => {
    await bundle()
    const key = `${'k'.repeat(250)}1`
    expect((await change(5, key)).data().changeSeats.seats).toBe(5)
    expect((await change(6, key)).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    expect((await change(6, `${'k'.repeat(250)}2`)).data().changeSeats.seats).toBe(6)
    ;(await portal('/settings', key)).data()
    ;(await portal('/apps', `${'k'.repeat(250)}2`)).data()
    for (const wrong of ['', 'k'.repeat(256), 'a\0b']) {
      expect((await change(5, wrong)).refused('BAD_USER_INPUT').extensions.field).toBe('idempotencyKey')
      expect((await portal('/settings', wrong)).refused('BAD_USER_INPUT').extensions.field).toBe('idempotencyKey')
    }
  })
})

describe('reconciliation', () => {
  it('counts a payment that failed unheard from the day on which it is found', async () => {
    await approve((await checkout(stage.boss, { package: 'FIVE', seats: 2 })).data().createBundleCheckout.url)
    await deliverAll()
    const [{ processorSubscriptionId }] = await bought()
    await steer(stage.graph, 'emit', { network: 'stripe', event: 'customer.subscription.updated', id: processorSubscriptionId, status: 'past_due' })
    await stage.graph.rows(`update launcher.billing_subscriptions set learned_at = learned_at - interval '20 days'`)
    expect(await reconcile(stage.graph.platform.launcher.job('test'), stage.organizationId)).toMatchObject({ corrected: 1 })
    expect(await bought()).toEqual([expect.objectContaining({ status: 'PAST_DUE' })])
    expect((await stage.ask(stage.boss, entitlements)).data().entitlements).toMatchObject({ plan: 'FIVE', seats: { total: 2 } })
  })
})

describe('claimBillingSubscription', () => {
  const email = 'plain@acme.test'
  const waiting = async () => {
    const [lead, at] = [newId(), stage.graph.clock.now()]
    await stage.graph.rows(`insert into launcher.leads (id, kind, email, created_at, updated_at, created_by) values ($1, 'CHECKOUT', $2, $3, $3, 'test')`, [
      lead,
      email,
      at,
    ])
    const seconds = Math.floor(at.getTime() / 1000)
    const event = (type: string, ago: number, more: object = {}) =>
      subscriptionEvent(
        `customer.subscription.${type}`,
        { id: `sub_${lead}`, ownerType: 'lead', owner: lead, pack: 'five', quantity: 2, ...more },
        seconds - ago,
      )
    await stage.deliver(event('created', 60))
    return event
  }

  it('gives what was bought without an account to whoever verified its address, once of ten requests', async () => {
    const event = await waiting()
    const who = stage.personal(stage.plain)
    const [found] = (await stage.ask(who, '{ claimableSubscriptions { id ownerType status } }')).data().claimableSubscriptions
    expect(found).toMatchObject({ ownerType: 'LEAD', status: 'ACTIVE' })
    expect((await stage.ask(stage.boss, '{ claimableSubscriptions { id } }')).data().claimableSubscriptions).toEqual([])
    ;(await stage.change(stage.boss, 'claimBillingSubscription', { id: found.id })).refused('NOT_FOUND')
    const answers = await Promise.all(Array.from({ length: 10 }, () => stage.change(who, 'claimBillingSubscription', { id: found.id }, 'ownerType ownerId')))
    for (const answer of answers) expect(answer.data().claimBillingSubscription).toEqual({ ownerType: 'USER', ownerId: stage.plain.userId })
    expect(
      await stage.graph.rows(`select id from launcher.audit_entries where tenant_id = $1 and action = 'billing_subscription.updated'`, [stage.plain.userId]),
    ).toHaveLength(1)
    // What the processor says later names the visitor still.
    await stage.deliver(event('updated', 10, { quantity: 5 }))
    expect(await bought(who)).toEqual([expect.objectContaining({ ownerType: 'USER', seats: 5 })])
    ;(await stage.change(stage.personal(stage.boss), 'claimBillingSubscription', { id: found.id })).refused('NOT_FOUND')
  })

  it('is NOT_FOUND for what has ended before anybody claimed it', async () => {
    const event = await waiting()
    const who = stage.personal(stage.plain)
    const [found] = (await stage.ask(who, '{ claimableSubscriptions { id } }')).data().claimableSubscriptions
    await stage.deliver(event('deleted', 10, { status: 'canceled' }))
    expect((await stage.ask(who, '{ claimableSubscriptions { id } }')).data().claimableSubscriptions).toEqual([])
    ;(await stage.change(who, 'claimBillingSubscription', { id: found.id })).refused('NOT_FOUND')
    expect(await bought(who)).toEqual([])
  })

  it('is refused where a bundle stands already', async () => {
    await waiting()
    await waiting()
    const who = stage.personal(stage.plain)
    const claimable = (await stage.ask(who, '{ claimableSubscriptions { id } }')).data().claimableSubscriptions
    expect(claimable).toHaveLength(2)
    const answers = await Promise.all(claimable.map(({ id }: { id: string }) => stage.change(who, 'claimBillingSubscription', { id })))
    expect(answers.map(({ partial }) => partial.errors?.[0]?.extensions?.reason ?? 'CLAIMED').sort()).toEqual(['CLAIMED', 'SUBSCRIBED'])
  })
})
