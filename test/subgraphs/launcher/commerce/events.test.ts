import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { processorSecret } from '../../../kit/supergraph.ts'
import { anonymous } from '../../../kit/viewers.ts'
import { post, subscriptionEvent } from './seed.ts'
import { type BillingStage, billingStage, entitlements, subscriptions } from './stage.ts'

let stage: BillingStage
let sub: string
let now: number
beforeAll(async () => {
  stage = await billingStage()
  now = Math.floor(stage.graph.clock.now().getTime() / 1000)
})
beforeEach(async () => {
  sub = `sub_${randomUUID().replaceAll('-', '')}`
  await stage.graph.rows('delete from launcher.billing_subscriptions')
  await stage.graph.rows('delete from launcher.installations')
  await stage.graph.rows('delete from launcher.processor_events')
})
afterAll(() => stage[Symbol.asyncDispose]())

const made = (type: string, ago: number, more: object = {}) =>
  subscriptionEvent(`customer.subscription.${type}`, { id: sub, owner: stage.organizationId, ...more }, now - ago)
const bought = async (as = stage.boss) => (await stage.ask(as, subscriptions)).data().billingSubscriptions
const rights = async (as = stage.boss) => (await stage.ask(as, entitlements)).data().entitlements
const events = () => stage.graph.rows<{ status: string; reason: string | null }>('select status, reason from launcher.processor_events order by created_at, id')

describe('an event of the processor', () => {
  it('is refused when it is forged, signed for payments, or more than five minutes old, and nothing is stored', async () => {
    const event = made('created', 0)
    for (const wrong of [{ secret: 'whsec_of_nobody' }, { secret: processorSecret }, { ago: 301 }]) {
      const answer = await post(stage.graph, event, anonymous, wrong)
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'BAD_USER_INPUT' })])
    }
    expect(await events()).toEqual([])
  })

  it('is refused with text that cannot be kept, and nothing is stored', async () => {
    for (const note of ['a\0b', 'half \ud800']) {
      const event = made('created', 0)
      const answer = await post(stage.graph, { ...event, data: { object: { ...event.data.object, metadata: { note } } } }, anonymous)
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'BAD_USER_INPUT', field: 'body' })])
    }
    expect(await events()).toEqual([])
  })

  it('makes a subscription of its owner, with an audit entry and a fact', async () => {
    expect(await (await stage.deliver(made('created', 10, { pack: 'five', unit: 2200, quantity: 7 }))).json()).toEqual({ received: true, duplicate: false })
    expect(await bought()).toEqual([
      expect.objectContaining({
        ownerType: 'ORGANIZATION',
        ownerId: stage.organizationId,
        package: 'FIVE',
        status: 'ACTIVE',
        seats: 7,
        amount: { amountMinor: 15_400, currency: 'USD' },
      }),
    ])
    expect(await rights()).toMatchObject({ plan: 'FIVE', platformApps: { limit: 5, used: 0 }, storeApps: { limit: null }, seats: { total: 7 } })
    const told = await stage.graph.rows(`select body from launcher.facts where kind = 'subscription.changed' and body->>'seats' = '7'`)
    expect(told).toHaveLength(4)
    const [audit] = await stage.graph.rows(
      `select actor, details from launcher.audit_entries where action = 'billing_subscription.created' order by at desc limit 1`,
    )
    expect(audit).toMatchObject({ actor: 'processor', details: { package: 'FIVE', seats: 7 } })
  })

  it('has its effect once, however often it comes', async () => {
    const event = made('created', 10)
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(stage.graph, event, anonymous).then(answer => answer.json())))
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    await Promise.all([stage.apply(), stage.apply()])
    await expect.poll(async () => (await bought()).length).toBe(1)
    expect(
      await stage.graph.rows(
        `select id from launcher.audit_entries where action = 'billing_subscription.created' and details->>'processorSubscriptionId' = $1`,
        [sub],
      ),
    ).toHaveLength(1)
  })

  it('has no effect when something newer is known, and ends a subscription for good', async () => {
    await stage.deliver(made('created', 40))
    await stage.deliver(made('updated', 20, { pack: 'five', quantity: 7 }))
    await stage.deliver(made('updated', 30, { status: 'past_due', quantity: 1 }))
    expect(await bought()).toEqual([expect.objectContaining({ status: 'ACTIVE', package: 'FIVE', seats: 7 })])
    await stage.deliver(made('deleted', 10, { status: 'canceled' }))
    await stage.deliver(made('updated', 2, { pack: 'ten' }))
    expect(await bought()).toEqual([expect.objectContaining({ status: 'CANCELED', endedAt: expect.any(String) })])
    expect(await rights()).toMatchObject({ plan: 'NONE', platformApps: { limit: 0 }, seats: { total: 0 } })
  })

  it('ends a subscription that was not known before, which then does not begin', async () => {
    await stage.deliver(made('deleted', 10, { status: 'canceled' }))
    await stage.deliver(made('created', 40))
    expect(await bought()).toEqual([expect.objectContaining({ status: 'CANCELED' })])
  })

  it('changes nothing without an owner that there is', async () => {
    await stage.deliver(made('created', 10, { owner: randomUUID() }))
    await stage.deliver(made('created', 9, { owner: 'nobody' }))
    await stage.deliver(made('created', 8, { kind: 'something else' }))
    await stage.deliver({ ...made('created', 7), type: 'charge.refunded' })
    await stage.deliver({ ...made('created', 6), livemode: true })
    expect((await events()).map(({ reason }) => reason).sort()).toEqual(['MODE', 'NOT_OURS', 'NO_OWNER', 'NO_OWNER', 'TYPE'])
    expect(await stage.graph.rows('select id from launcher.billing_subscriptions')).toEqual([])
  })

  it('counts for seven days after a payment failed', async () => {
    await stage.deliver(made('created', 40))
    await stage.deliver(made('updated', 10, { status: 'past_due' }))
    expect(await rights()).toMatchObject({ plan: 'THREE' })
    const items = () => stage.graph.rows(`select status from launcher.action_items where kind = 'SUBSCRIPTION_PAST_DUE' order by created_at desc limit 1`)
    expect(await items()).toEqual([{ status: 'OPEN' }])
    await stage.graph.rows(`update launcher.billing_subscriptions set past_due_since = past_due_since - interval '7 days'`)
    expect(await rights()).toMatchObject({ plan: 'NONE' })
    await stage.deliver(made('updated', 5))
    expect(await items()).toEqual([{ status: 'RESOLVED' }])
  })
})

describe('installations', () => {
  const install = (app: string) => stage.change(stage.boss, 'installApp', { app }, 'app')
  const platform = ['publishing', 'agents', 'payments', 'providers'] as const

  it('never open more apps of the platform than the bundle, twenty at once', async () => {
    expect((await install('publishing')).refused('CONFLICT').extensions).toMatchObject({ reason: 'NOT_ENTITLED', limit: 0, used: 0 })
    await stage.deliver(made('created', 10))
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => install(platform[at % 4]!)))
    const refused = answers.flatMap(({ partial }) => partial.errors ?? [])
    expect(new Set(answers.flatMap(({ partial }) => partial.data?.installApp?.app ?? [])).size).toBe(3)
    expect(refused).toHaveLength(5)
    for (const { extensions } of refused) expect(extensions).toMatchObject({ reason: 'NOT_ENTITLED', limit: 3, used: 3 })
    for (const app of ['route-finder', 'stock-count']) (await install(app)).data()
    expect(await rights()).toMatchObject({ platformApps: { limit: 3, used: 3 }, storeApps: { used: 2 } })
  })

  it('stay when the bundle falls, and the newest beyond it are closed', async () => {
    await stage.deliver(made('created', 40, { pack: 'five' }))
    for (const app of platform) (await install(app)).data()
    await stage.graph.rows(`update launcher.installations set installed_at = installed_at + interval '1 minute' where app = 'agents'`)
    await stage.deliver(made('updated', 20, { pack: 'three' }))
    const shown = async () =>
      Object.fromEntries(
        (await stage.ask(stage.boss, '{ installations { app entry { entitled } } }'))
          .data()
          .installations.map((each: { app: string; entry: { entitled: boolean } }) => [each.app, each.entry.entitled]),
      )
    expect(await shown()).toEqual({ agents: false, payments: true, providers: true, publishing: true })
    await stage.deliver(made('deleted', 10, { status: 'canceled' }))
    expect(Object.values(await shown())).toEqual([false, false, false, false])
    const { launchApp } = (await stage.change(stage.boss, 'launchApp', { app: 'publishing', source: 'CATALOGUE' }, 'status failure { code }')).data()
    expect(launchApp).toEqual({ status: 'FAILED', failure: { code: 'NOT_ENTITLED' } })
  })
})

describe('billing', () => {
  it.each([
    'billingSubscriptions { id }',
    'workspaceVerifications { id }',
    'claimableSubscriptions { id }',
    'billingPreview(package: FIVE) { dueNow { currency } }',
    'seats { nodes { id } }',
  ])('is for managers alone: %s', async field => {
    ;(await stage.ask(stage.plain, `{ ${field} }`)).refused('FORBIDDEN')
    ;(await stage.ask({ ...stage.plain, kind: 'apiKey', userId: null, keyId: randomUUID(), roles: [] }, `{ ${field} }`)).refused('FORBIDDEN')
  })

  it('shows nothing of another organization', async () => {
    await stage.deliver(made('created', 10))
    const [{ id }] = await bought()
    expect(await bought(stage.stranger)).toEqual([])
    const { billingSubscriptions } = stage.graph.platform.launcher.at.contexts.forRequest(stage.stranger, new Request('http://launcher/'))
    expect(await billingSubscriptions.byId.load(id)).toBeNull()
  })
})
