import { expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { readEvent } from '../../../../subgraphs/http/processor-event.ts'
import { applyEvents, openEventRuns } from '../../../../subgraphs/launcher/engines/commerce/events.ts'
import { openAlarm } from '../../../../subgraphs/launcher/engines/notify/alarm.ts'
import { dies } from '../../../kit/dies.ts'
import { anonymous } from '../../../kit/viewers.ts'
import { post, subscriptionEvent } from './seed.ts'
import { type BillingStage, billingStage, subscriptions } from './stage.ts'

const bought = async ({ ask, boss }: BillingStage) => (await ask(boss, subscriptions)).data().billingSubscriptions
const made = ({ graph, organizationId }: BillingStage) =>
  subscriptionEvent('customer.subscription.created', { id: 'sub_crash', owner: organizationId }, Math.floor(graph.clock.now().getTime() / 1000) - 10)

it('an event whose receiver died at billing-event-stored is a duplicate when it comes again, and is applied', async () => {
  await using stage = await billingStage()
  const event = made(stage)
  await dies('billing-event-stored', () => post(stage.graph, event, anonymous))
  expect(await (await post(stage.graph, event, anonymous)).json()).toEqual({ received: true, duplicate: true })
  await stage.apply()
  expect(await bought(stage)).toHaveLength(1)
})

it.each([
  ['billing-event-taken', 0],
  ['billing-event-applied', 1],
])('an event whose process died at %s has one effect when its time is over', async (point, before) => {
  await using stage = await billingStage()
  const { graph } = stage
  // Without a wake-up, so that no other run takes it.
  const job = () => graph.platform.launcher.job('processor')
  await job().processorEvents.keep(newId(), readEvent(Buffer.from(JSON.stringify(made(stage)))), graph.clock.now())
  await dies(point, () => applyEvents(job, false))
  expect(await bought(stage)).toHaveLength(before)
  await graph.clock.advance(61_000)
  await stage.apply()
  expect(await bought(stage)).toHaveLength(1)
  expect(await graph.rows(`select id from launcher.audit_entries where action = 'billing_subscription.created'`)).toHaveLength(1)
})

it('an event for which the processor is asked, and does not answer, holds up no other', async () => {
  await using stage = await billingStage()
  const { graph } = stage
  await stage.deliver(made(stage))
  const at = Math.floor(graph.clock.now().getTime() / 1000)
  const keep = (event: object) =>
    graph.platform.launcher.job('processor').processorEvents.keep(newId(), readEvent(Buffer.from(JSON.stringify(event))), graph.clock.now())
  const asked = Promise.withResolvers<null>()
  let asks = 0
  const job = () => {
    const real = graph.platform.launcher.job('processor')
    const subscription = () => {
      asks += 1
      return asked.promise
    }
    const billingProcessor = { ...real.billingProcessor, subscription }
    return new Proxy(real, { get: (target, name) => (name === 'billingProcessor' ? billingProcessor : Reflect.get(target, name)) })
  }
  const runs = openEventRuns(openAlarm(graph.clock), job().log)
  const invoice = { id: 'in_1', object: 'invoice', subscription: 'sub_crash' }
  await keep({ id: 'evt_invoice', object: 'event', type: 'invoice.payment_failed', created: at, livemode: false, data: { object: invoice } })
  await runs.start(job, false)
  await expect.poll(() => asks).toBe(1)
  await keep(subscriptionEvent('customer.subscription.created', { id: 'sub_other', owner: stage.organizationId }, at))
  await runs.start(job, false)
  await expect.poll(async () => (await bought(stage)).length).toBe(2)
  asked.resolve(null)
  await runs.ended()
  expect(await graph.rows('select status from launcher.processor_events where next_attempt_at is not null')).toEqual([])
})
