import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Door, openDoor } from '../../../kit/door.ts'
import { seedProcessor } from './seed.ts'
import { type BillingStage, billingStage, subscriptions } from './stage.ts'

/** The price of a seat of a bundle for a year that stands at the processor. */
const ids: Record<string, Record<string, string>> = { FIVE: { YEAR: 'unmade' } }
let stage: BillingStage
let door: Door
beforeAll(async () => {
  stage = await billingStage({ sandbox: true, now: new Date().toISOString(), billingPrices: ids })
  await seedProcessor(stage.graph)
  const form = { currency: 'usd', unit_amount: '22000', 'recurring[interval]': 'year', 'product_data[name]': 'Five apps of the operator' }
  ids.FIVE!.YEAR = (await processor('/prices', form)).id
  door = await openDoor(stage.graph)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await stage[Symbol.asyncDispose]()
})

async function processor(path: string, form?: Record<string, string>) {
  const headers = { authorization: 'Bearer sk_test_of_the_platform' }
  const answer = await fetch(`${stage.graph.x.origin}/stripe/v1${path}`, { headers, ...(form && { method: 'POST', body: new URLSearchParams(form) }) })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { id: string; data: { id: string; type: string }[] }
}

const open = async (input: object) =>
  (await stage.change(stage.boss, 'createBundleCheckout', { returnTo: '/settings', ...input }, 'id url expiresAt')).data().createBundleCheckout

describe('BILLING_PRICES', () => {
  it('sells for the prices that it names, and makes the others', async () => {
    const opened = await open({ package: 'FIVE', interval: 'YEAR', seats: 3 })
    await open({ package: 'FIVE', interval: 'MONTH', seats: 3 })
    expect(await stage.graph.rows('select package, interval from launcher.billing_prices')).toEqual([{ package: 'FIVE', interval: 'MONTH' }])
    await fetch(`${opened.url}?sandbox_approve=1`, { redirect: 'manual' })
    for (const event of (await processor('/events?limit=100')).data.toReversed()) if (/subscription|checkout/.test(event.type)) await stage.deliver(event)
    expect((await stage.ask(stage.boss, subscriptions)).data().billingSubscriptions).toEqual([
      expect.objectContaining({ package: 'FIVE', interval: 'YEAR', seats: 3, status: 'ACTIVE', amount: { amountMinor: 66_000, currency: 'USD' } }),
    ])
    const { processorSubscriptionId } = (
      await stage.graph.rows<{ processorSubscriptionId: string }>(
        'select processor_subscription_id as "processorSubscriptionId" from launcher.billing_subscriptions',
      )
    )[0]!
    const { billingProcessor, billingPrices } = stage.graph.platform.launcher.job('test')
    expect(await billingProcessor.subscription(processorSubscriptionId, billingPrices)).toMatchObject({ package: 'FIVE', interval: 'YEAR', unitMinor: 22_000n })
  })
})

describe('rows of billing on the hosts of the marketing site', () => {
  const bodies: Readonly<Record<string, object>> = { preview: { package: 'five' }, portal: { returnTo: '/settings' } }
  const post = (host: string, path: string) => door.ask('POST', path, { headers: { host }, body: bodies[path.split('/').at(-1)!] ?? {} })

  it.each([
    '/api/billing/preview',
    '/api/billing/portal',
    '/api/internal/seats/reconcile',
  ])('answers %s there without the prefix, as on hosts for programs', async path => {
    for (const host of ['marketing.launcher.localhost:4000', 'launcher.localhost:4000']) expect((await post(host, path)).status, host).toBe(401)
    expect((await post('marketing.launcher.localhost:4000', `/launcher${path}`)).status).toBe(401)
    expect((await post('publishing.localhost:4000', path)).status).toBe(404)
  })

  it('answers no other row of billing there, nor GET', async () => {
    expect((await post('marketing.launcher.localhost:4000', '/api/billing/claim')).status).toBe(404)
    expect((await door.ask('GET', '/api/billing/portal', { headers: { host: 'marketing.launcher.localhost:4000' } })).status).toBe(405)
  })
})
