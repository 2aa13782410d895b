import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { anonymous } from '../../../kit/viewers.ts'
import { post, type SubscriptionFields, subscriptionEvent } from './seed.ts'
import { type BillingStage, billingStage, entitlements, subscriptions } from './stage.ts'

let stage: BillingStage
beforeAll(async () => {
  stage = await billingStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** Random numbers that a seed repeats (mulberry32). */
function randomOf(seed: number) {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return {
    below: (limit: number) => Math.floor(next() * limit),
    pick: <Value>(values: readonly Value[]): Value => values[Math.floor(next() * values.length)]!,
    shuffled: <Value>(values: readonly Value[]): Value[] =>
      values
        .map(value => [next(), value] as const)
        .sort(([a], [b]) => a - b)
        .map(([, value]) => value),
  }
}

const limits: Readonly<Record<string, number | null>> = { NONE: 0, FREE_WORKSPACE: 1, THREE: 3, FIVE: 5, TEN: 10, EVERYTHING: null }
const order = Object.keys(limits)

/** What the processor knows, worked out from the story alone. */
interface Model {
  readonly id: string
  readonly owner: string
  readonly ownerType: string
  readonly kind: string
  pack: string
  status: string
  quantity: number
  /** Who claimed it; null while it waits. */
  claimed: boolean
}

const counts = ({ status }: Model): boolean => ['active', 'trialing', 'past_due'].includes(status)

it.each([1, 2, 3, 4, 5, 6])('entitlements equal the model’s after events that come twice, late and in any order (seed %i)', async seed => {
  const random = randomOf(seed)
  const now = Math.floor(stage.graph.clock.now().getTime() / 1000)
  for (const table of ['billing_subscriptions', 'workspace_verifications', 'processor_events', 'leads']) await stage.graph.rows(`delete from launcher.${table}`)
  const lead = newId()
  await stage.graph.rows(
    `insert into launcher.leads (id, kind, email, created_at, updated_at, created_by) values ($1, 'CHECKOUT', 'plain@acme.test', now(), now(), 'test')`,
    [lead],
  )
  const models: Model[] = []
  let pending: object[] = []
  let second = now - 10_000
  const send = (type: string, model: Model) => {
    second += 1
    const { id, owner, ownerType, kind, pack, status, quantity } = model
    const fields: SubscriptionFields = { id, owner, ownerType, kind, pack: pack.toLowerCase(), status, quantity }
    const event = subscriptionEvent(`customer.subscription.${type}`, fields, second)
    pending.push(event, ...(random.below(3) === 0 ? [event] : []))
    if (random.below(4) === 0) pending.push({ ...subscriptionEvent('charge.refunded', fields, second) })
  }
  const flush = async (share: number) => {
    const all = random.shuffled(pending)
    const count = Math.ceil(all.length * share)
    pending = all.slice(count)
    await Promise.all(all.slice(0, count).map(event => post(stage.graph, event, anonymous)))
    await stage.apply()
  }
  const owners = [
    { ownerType: 'organization', owner: stage.organizationId },
    { ownerType: 'lead', owner: lead },
  ]
  const who = stage.personal(stage.plain)
  for (let step = 0; step < 25; step += 1) {
    const standing = models.filter(({ status }) => status !== 'canceled')
    const model = standing.length > 0 ? random.pick(standing) : undefined
    const action = random.pick(['checkout', 'seats', 'plan', 'fail', 'pay', 'cancel', 'flush', 'claim'])
    if (action === 'checkout' || !model) {
      const { ownerType, owner } = random.pick(owners)
      const kind = ownerType === 'organization' && random.below(4) === 0 ? 'free_workspace' : 'bundle'
      const made = {
        id: `sub_${newId().replaceAll('-', '')}`,
        owner,
        ownerType,
        kind,
        pack: random.pick(order.slice(2)),
        status: 'active',
        quantity: 1 + random.below(9),
        claimed: false,
      }
      models.push(made)
      send('created', made)
    } else if (action === 'flush') await flush(random.pick([0.3, 0.7, 1]))
    else if (action === 'claim') {
      await flush(1)
      const waiting = (await stage.ask(who, '{ claimableSubscriptions { id processorSubscriptionId } }')).data().claimableSubscriptions
      const expected = models.filter(each => each.ownerType === 'lead' && !each.claimed && each.status !== 'canceled')
      expect(waiting.map((each: { processorSubscriptionId: string }) => each.processorSubscriptionId).sort()).toEqual(expected.map(({ id }) => id).sort())
      const [first] = waiting
      if (!first) continue
      const isFree = !models.some(({ claimed, status }) => claimed && status !== 'canceled')
      const answer = await stage.change(who, 'claimBillingSubscription', { id: first.id })
      if (isFree) {
        answer.data()
        models.find(({ id }) => id === first.processorSubscriptionId)!.claimed = true
      } else expect(answer.refused('CONFLICT').extensions.reason).toBe('SUBSCRIBED')
    } else {
      if (action === 'seats') model.quantity = 1 + random.below(9)
      if (action === 'plan' && model.kind === 'bundle') model.pack = random.pick(order.slice(2))
      if (action === 'fail') model.status = 'past_due'
      if (action === 'pay') model.status = 'active'
      if (action === 'cancel') model.status = 'canceled'
      send(action === 'cancel' ? 'deleted' : 'updated', model)
    }
  }
  await flush(1)

  const expected = (own: readonly Model[]) => {
    const plans = own
      .filter(counts)
      .map(({ kind, pack, quantity }) => ({ plan: kind === 'bundle' ? pack : 'FREE_WORKSPACE', seats: kind === 'bundle' ? quantity : 0 }))
    const best = plans.sort((a, b) => order.indexOf(b.plan) - order.indexOf(a.plan) || b.seats - a.seats)[0] ?? { plan: 'NONE', seats: 0 }
    return { plan: best.plan, platformApps: { limit: limits[best.plan] }, seats: { total: best.seats } }
  }
  const rights = async (as: typeof who) => (await stage.ask(as, entitlements)).data().entitlements
  expect(await rights(stage.boss)).toMatchObject(expected(models.filter(({ ownerType }) => ownerType === 'organization')))
  expect(await rights(who)).toMatchObject(expected(models.filter(({ claimed }) => claimed)))
  const shown = (await stage.ask(stage.boss, subscriptions)).data().billingSubscriptions
  const sold = models.filter(({ ownerType, kind }) => ownerType === 'organization' && kind === 'bundle')
  expect(
    shown.map(({ processorSubscriptionId, status, package: name, seats }: Record<string, unknown>) => [processorSubscriptionId, status, name, seats]).sort(),
  ).toEqual(sold.map(({ id, status, pack, quantity }) => [id, status.toUpperCase(), pack, quantity]).sort())
  // Each change of a subscription has one audit entry at most, however often its event came.
  const [audits] = await stage.graph.rows<{ count: number }>(`select count(*)::int as count from launcher.processor_events where status = 'DEAD'`)
  expect(audits).toEqual({ count: 0 })
})
