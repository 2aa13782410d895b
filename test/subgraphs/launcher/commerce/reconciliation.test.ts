import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { reconcileOld } from '../../../../subgraphs/launcher/engines/commerce/reconcile.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { anonymous } from '../../../kit/viewers.ts'
import { steer } from '../catalog/seed.ts'
import { seedClaimableVerification, seedProcessor } from './seed.ts'
import { type BillingStage, billingStage } from './stage.ts'

let stage: BillingStage
beforeAll(async () => {
  stage = await billingStage({ sandbox: true, now: new Date().toISOString() })
  await seedProcessor(stage.graph)
})
beforeEach(async () => {
  for (const table of ['billing_subscriptions', 'workspace_verifications', 'seats', 'seat_accounts', 'seat_changes'])
    await stage.graph.rows(`delete from launcher.${table}`)
})
afterAll(() => stage[Symbol.asyncDispose]())

const asLauncher: Viewer = { ...anonymous, kind: 'service', appId: 'app_launcher' }
const reconcileAll = async () =>
  (await stage.ask(asLauncher, 'mutation { reconcileSeats(input: {}) { organizations released assigned corrected } }')).data().reconcileSeats

interface Owner {
  readonly type: 'ORGANIZATION' | 'USER' | 'LEAD'
  readonly id: string
}

/** A subscription at the processor, and our record of it. @returns its ids here and there */
async function subscription({ type, id: ownerId }: Owner, kind: 'BUNDLE' | 'FREE_WORKSPACE' = 'BUNDLE', quantity = 2) {
  const made = await steer<{ id: string; customerId: string; itemId: string }>(stage.graph, 'objects', { network: 'stripe', object: 'subscription', quantity })
  const [id, at] = [newId(), stage.graph.clock.now()]
  const common = [id, type, ownerId, made.id, made.customerId, at]
  if (kind === 'BUNDLE')
    await stage.graph.rows(
      `insert into launcher.billing_subscriptions (id, owner_type, owner_id, package, interval, status, seats, unit_minor, currency, processor_subscription_id,
         processor_customer_id, processor_item_id, learned_at, reconciled_at, created_at, updated_at, created_by)
       values ($1, $2, $3, 'FIVE', 'MONTH', 'ACTIVE', $8, 2200, 'USD', $4, $5, $7, $6, $6, $6, $6, 'test')`,
      [...common, made.itemId, quantity],
    )
  else
    await stage.graph.rows(
      `insert into launcher.workspace_verifications (id, owner_type, owner_id, status, unit_minor, currency, processor_subscription_id,
         processor_customer_id, learned_at, reconciled_at, created_at, updated_at, created_by)
       values ($1, $2, $3, 'ACTIVE', 100, 'USD', $4, $5, $6, $6, $6, $6, 'test')`,
      common,
    )
  return { id, processorId: made.id }
}

const seatAccount = (organizationId: string) =>
  stage.graph.rows('insert into launcher.seat_accounts (organization_id, due_at, reconciled_at) values ($1, null, $2)', [
    organizationId,
    stage.graph.clock.now(),
  ])
/** A payment that failed, of which nobody is told. */
const fail = (id: string) => steer(stage.graph, 'emit', { network: 'stripe', event: 'customer.subscription.updated', id, status: 'past_due' })
const statusOf = async (table: string, id: string) =>
  (await stage.graph.rows<{ status: string }>(`select status from launcher.${table} where id = $1`, [id]))[0]?.status
const sweep = () => reconcileOld(() => stage.graph.platform.launcher.job('reconciliation'))

describe('changeSeats', () => {
  const seats = async () =>
    (
      await stage.graph.rows<{ held: number }>('select count(*)::int as held from launcher.seats where organization_id = $1 and released_at is null', [
        stage.organizationId,
      ])
    )[0]!.held
  const reasonsOf = (answers: readonly Awaited<ReturnType<BillingStage['change']>>[]) => answers.map(({ error }) => error?.extensions.reason ?? 'DONE')

  const forget = async () => {
    for (const table of ['billing_subscriptions', 'seats', 'seat_accounts', 'seat_changes']) await stage.graph.rows(`delete from launcher.${table}`)
  }

  it('never has fewer seats than are given meanwhile, ten changes and ten assignments at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      await forget()
      const { id } = await subscription({ type: 'ORGANIZATION', id: stage.organizationId })
      await seatAccount(stage.organizationId)
      ;(await stage.change(stage.boss, 'assignSeat', { userId: stage.boss.userId })).data()
      const changes = Array.from({ length: 10 }, () => stage.change(stage.boss, 'changeSeats', { quantity: 1 }, 'seats'))
      const given = Array.from({ length: 10 }, () => stage.change(stage.boss, 'assignSeat', { userId: stage.plain.userId }))
      const [changed, assigned] = [reasonsOf(await Promise.all(changes)), reasonsOf(await Promise.all(given))]
      const [bundle] = await stage.graph.rows<{ seats: number }>('select seats from launcher.billing_subscriptions where id = $1', [id])
      const outcome = { changed: new Set(changed), assigned: new Set(assigned), seats: bundle!.seats, held: await seats() }
      if (changed.includes('DONE')) expect(outcome).toEqual({ changed: new Set(['DONE']), assigned: new Set(['SEATS_IN_USE']), seats: 1, held: 1 })
      else expect(outcome).toEqual({ changed: new Set(['SEATS_IN_USE']), assigned: new Set(['DONE']), seats: 2, held: 2 })
      expect(await stage.graph.rows('select id from launcher.seat_changes')).toEqual([])
    }
  })

  it('holds seats back for a minute after an answer that never came, and gives them then', async () => {
    await forget()
    await subscription({ type: 'ORGANIZATION', id: stage.organizationId })
    await seatAccount(stage.organizationId)
    await steer(stage.graph, 'faults', { network: 'stripe', fault: 'status', status: 500, times: 20 })
    const [error] = (await stage.change(stage.boss, 'changeSeats', { quantity: 1 }, 'seats')).partial.errors!
    expect(error?.extensions).toMatchObject({ code: 'UPSTREAM_FAILED' })
    await steer(stage.graph, 'faults', { network: 'stripe', fault: 'none' })
    ;(await stage.change(stage.boss, 'assignSeat', { userId: stage.boss.userId })).data()
    const one = { userId: stage.plain.userId }
    expect((await stage.change(stage.boss, 'assignSeat', one)).refused('CONFLICT').extensions.reason).toBe('SEATS_IN_USE')
    await stage.graph.clock.advance(60_000)
    ;(await stage.change(stage.boss, 'assignSeat', one)).data()
    expect(await seats()).toBe(2)
  })
})

describe('reconciliation', () => {
  it('compares bundles of people and of nobody yet, and every verification, once a day', async () => {
    const owner = { type: 'USER', id: stage.plain.userId! } as const
    const bundles = [await subscription(owner), await subscription({ type: 'LEAD', id: newId() })]
    const verifications = [
      await subscription(owner, 'FREE_WORKSPACE', 1),
      await subscription({ type: 'ORGANIZATION', id: stage.organizationId }, 'FREE_WORKSPACE', 1),
    ]
    for (const { processorId } of [...bundles, ...verifications]) await fail(processorId)
    const statuses = async () => [
      ...(await Promise.all(bundles.map(({ id }) => statusOf('billing_subscriptions', id)))),
      ...(await Promise.all(verifications.map(({ id }) => statusOf('workspace_verifications', id)))),
    ]
    await sweep()
    expect(await statuses()).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE'])
    await stage.graph.clock.advance(86_400_000)
    await sweep()
    expect(await statuses()).toEqual(['PAST_DUE', 'PAST_DUE', 'PAST_DUE', 'PAST_DUE'])
  })

  it('tries again within the hour what the processor did not answer, and leaves it as it was', async () => {
    const { id, processorId } = await subscription({ type: 'USER', id: stage.plain.userId! })
    await fail(processorId)
    await stage.graph.clock.advance(86_400_000)
    const named = (name: string) => stage.graph.rows('update launcher.billing_subscriptions set processor_subscription_id = $2 where id = $1', [id, name])
    await named('')
    await sweep()
    await named(processorId)
    await sweep()
    expect(await statusOf('billing_subscriptions', id)).toBe('ACTIVE')
    await stage.graph.clock.advance(3_600_000)
    await sweep()
    expect(await statusOf('billing_subscriptions', id)).toBe('PAST_DUE')
  })

  it('of all organizations goes through them page by page, and one that fails leaves the others', async () => {
    // More than a page of organizations that nobody belongs to.
    for (let count = 0; count < 51; count += 1) await seatAccount(newId())
    await subscription({ type: 'ORGANIZATION', id: stage.organizationId })
    await seatAccount(stage.organizationId)
    const broken = await subscription({ type: 'ORGANIZATION', id: stage.stranger.organizationId! })
    await seatAccount(stage.stranger.organizationId!)
    await stage.graph.rows(`update launcher.billing_subscriptions set processor_subscription_id = '' where id = $1`, [broken.id])
    expect(await reconcileAll()).toEqual({ organizations: 52, released: 0, assigned: 2, corrected: 1 })
  })
})

describe('claimWorkspaceVerification', () => {
  const email = 'plain@acme.test'
  const query = '{ claimableVerifications { id ownerType status } claimableSubscriptions { id } }'
  const waiting = () => seedClaimableVerification(stage.graph, email)

  it('gives a free workspace that was bought without an account to whoever verified its address, once of ten requests', async () => {
    const id = await waiting()
    const who = stage.personal(stage.plain)
    expect((await stage.ask(who, query)).data()).toEqual({ claimableVerifications: [{ id, ownerType: 'LEAD', status: 'ACTIVE' }], claimableSubscriptions: [] })
    expect((await stage.ask(stage.boss, query)).data().claimableVerifications).toEqual([])
    for (const as of [stage.boss, stage.personal(stage.boss)]) (await stage.change(as, 'claimWorkspaceVerification', { id })).refused('NOT_FOUND')
    ;(await stage.change(who, 'claimBillingSubscription', { id })).refused('NOT_FOUND')
    const answers = await Promise.all(Array.from({ length: 10 }, () => stage.change(who, 'claimWorkspaceVerification', { id }, 'ownerType ownerId')))
    for (const answer of answers) expect(answer.data().claimWorkspaceVerification).toEqual({ ownerType: 'USER', ownerId: stage.plain.userId })
    expect(
      await stage.graph.rows(`select id from launcher.audit_entries where subject_id = $1 and action = 'workspace_verification.updated'`, [id]),
    ).toHaveLength(1)
    const shown = (await stage.ask(who, '{ workspaceVerifications { id } entitlements { plan } claimableVerifications { id } }')).data()
    expect(shown).toEqual({ workspaceVerifications: [{ id }], entitlements: { plan: 'FREE_WORKSPACE' }, claimableVerifications: [] })
  })

  it('is refused where a verification stands already, and NOT_FOUND for one that has ended', async () => {
    const ids = [await waiting(), await waiting()]
    const who = stage.personal(stage.plain)
    const answers = await Promise.all(ids.map(id => stage.change(who, 'claimWorkspaceVerification', { id })))
    expect(answers.map(({ error }) => error?.extensions.reason ?? 'CLAIMED').sort()).toEqual(['CLAIMED', 'SUBSCRIBED'])
    const ended = await waiting()
    await stage.graph.rows(`update launcher.workspace_verifications set status = 'CANCELED', ended_at = updated_at where id = $1`, [ended])
    ;(await stage.change(who, 'claimWorkspaceVerification', { id: ended })).refused('NOT_FOUND')
  })
})
