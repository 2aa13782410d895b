import { describe, expect, test } from 'vitest'
import { administer, serverUrl } from '../../../kit/run/template.ts'
import { seedCredential } from '../credential/seed.ts'
import { rotateCredential } from '../documents.ts'
import { seedLimit } from '../spend/seed.ts'
import { eur, mutation, newKey, processorStage, service } from './stage.ts'

const toStripe = (sent: readonly string[]) => sent.filter(line => line.includes('/stripe/'))

describe('G-08 calls of the processor', () => {
  test('thirty at once against a limit for ten: ten are made, and the others send nothing', async () => {
    await using stage = await processorStage()
    const { graph, organizationId, payments } = stage
    const limit = { organizationId, level: 'ORGANIZATION' as const, scopeType: 'PROVIDER_FAMILY' as const, scopeValue: 'payments', period: 'DAY' as const }
    const id = await seedLimit(graph, { ...limit, hardLimitMicros: 1000n })
    const pay = { amount: eur(2500), paymentMethodId: 'pm_card_visa', confirm: true }
    const document = mutation('createProcessorPaymentIntent', 'id')
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => graph.execute(document, { input: { ...pay, idempotencyKey: newKey() } }, { as: payments })),
    )
    expect(answers.map(({ code }) => code ?? 'made').sort()).toEqual([...Array(20).fill('BUDGET_EXCEEDED'), ...Array(10).fill('made')])
    expect(await stage.received()).toHaveLength(10)
    expect(toStripe(graph.sent)).toHaveLength(10)
    const rows = (await stage.calls()).map(({ status, cost_micros }) => `${status} ${cost_micros}`).sort()
    expect(rows).toEqual([...Array(20).fill('REFUSED 0'), ...Array(10).fill('SUCCEEDED 100')])
    const [books] = await graph.rows<{ spent: string; reserved: string }>(
      'select spent_micros::text as spent, reserved_micros::text as reserved from providers.spend_limits where id = $1',
      [id],
    )
    expect(books).toEqual({ spent: '1000', reserved: '0' })
  })

  test('use the former secret within its grace period if the new one is rejected: one call, charged once', async () => {
    await using stage = await processorStage()
    const { graph, organizationId, owner } = stage
    const { id } = await seedCredential(graph, { organizationId, provider: 'stripe', name: 'Stripe', secret: 'sk_test_the_old_one' })
    const fields = [{ name: 'secretKey', value: 'sk_live_not_good_here' }]
    ;(await graph.execute(rotateCredential, { input: { id, fields } }, { as: owner })).data()
    await stage.change('createProcessorCustomer', { email: 'a@example.test' })
    expect(toStripe(graph.sent)).toEqual(['POST /stripe/v1/customers 401', 'POST /stripe/v1/customers 200'])
    expect((await stage.calls()).map(({ status, cost_micros }) => [status, Number(cost_micros)])).toEqual([['SUCCEEDED', 100]])
  })

  test.each(['accept-then-reset', 'malformed'])('of which nobody knows what came (%s) are not made once more with the secret before', async fault => {
    await using stage = await processorStage()
    const { graph, organizationId, owner } = stage
    const { id } = await seedCredential(graph, { organizationId, provider: 'stripe', name: 'Stripe', secret: 'sk_test_the_old_one' })
    const fields = [{ name: 'secretKey', value: 'sk_test_the_new_one' }]
    ;(await graph.execute(rotateCredential, { input: { id, fields } }, { as: owner })).data()
    await stage.arm(fault)
    expect(await stage.refused('createProcessorCustomer', {})).toMatchObject({ code: 'UPSTREAM_FAILED', outcome: 'unknown' })
    expect((await stage.calls()).map(({ status, attempts }) => [status, attempts.length])).toEqual([['FAILED', 1]])
    expect(await stage.received()).toHaveLength(1)
  })

  test.each([
    ['takes it', null],
    ['takes it and is not heard of', 'accept-then-reset'],
  ])('that the processor %s, and that cannot be written down, are told as unknown; the same key answers what was made', async (_what, fault) => {
    await using stage = await processorStage()
    const { graph } = stage
    await stage.change('createProcessorCustomer', {})
    await graph.rows(
      `create function providers.full() returns trigger language plpgsql as 'begin raise exception ''No space left on device'' using errcode = ''53100''; end'`,
    )
    await graph.rows('create trigger full_disk before insert on providers.audit_entries for each row execute function providers.full()')
    if (fault) await stage.arm(fault)
    const same = { email: 'a@example.test', idempotencyKey: newKey() }
    expect(await stage.refused('createProcessorCustomer', same)).toMatchObject({ code: 'UPSTREAM_FAILED', outcome: 'unknown' })
    await graph.rows('drop trigger full_disk on providers.audit_entries')
    const [, made] = await stage.received()
    expect(await stage.change('createProcessorCustomer', same)).toEqual({ id: made.id })
    expect(await stage.received()).toHaveLength(2)
    expect((await stage.record()).slice(1)).toMatchObject([{ action: 'processor_customer.created', processor_id: made.id, details: { repeated: true } }])
  })

  test.each([
    ['while they begin', 'before insert on providers.calls'],
    ['while its credential is looked for', ''],
  ])('that meet no database, %s, are told as not sent: nothing reaches the processor', async (_what, when) => {
    await using stage = await processorStage()
    const { graph } = stage
    await graph.rows(
      `create function providers.full() returns trigger language plpgsql as 'begin raise exception ''No space left on device'' using errcode = ''53100''; end'`,
    )
    if (when) await graph.rows(`create trigger full_disk ${when} for each row execute function providers.full()`)
    const name = new URL(graph.database.url).pathname.slice(1)
    if (!when) {
      await administer(serverUrl(), `alter database ${name} with allow_connections false`)
      await administer(serverUrl(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    }
    expect(await stage.refused('createProcessorCustomer', {})).toMatchObject({ code: 'UPSTREAM_FAILED', outcome: 'not_sent' })
    await administer(serverUrl(), `alter database ${name} with allow_connections true`)
    expect(await stage.received()).toEqual([])
  })

  test('with an invalid credential are rejected, without any part of it in the message; it is FAILING from then on', async () => {
    await using stage = await processorStage()
    const { graph, organizationId } = stage
    const { id } = await seedCredential(graph, { organizationId, provider: 'stripe', name: 'Stripe', secret: 'sk_live_not_good_here' })
    const refused = await stage.refused('createProcessorCustomer', {})
    expect(refused).toMatchObject({ code: 'UPSTREAM_FAILED', outcome: 'refused' })
    expect(JSON.stringify(refused)).not.toMatch(/sk_|live/)
    await expect.poll(() => graph.rows('select status from providers.credentials where id = $1', [id])).toEqual([{ status: 'FAILING' }])
  })

  test('use the organization’s own credential, else the platform’s', async () => {
    await using stage = await processorStage()
    const { graph, organizationId } = stage
    await stage.change('createProcessorCustomer', {})
    await seedCredential(graph, { organizationId, provider: 'stripe', name: 'Stripe', secret: 'sk_live_not_good_here' })
    await graph.clock.advance(2000)
    expect(await stage.refused('createProcessorCustomer', {})).toMatchObject({ outcome: 'refused' })
  })

  test('take five statements: one to begin, one to settle, and a transaction with the audit entry', async () => {
    await using stage = await processorStage()
    const { graph } = stage
    await stage.change('createProcessorCustomer', {})
    // How the credential fares is noted beside the call, once a minute.
    await expect.poll(() => graph.rows('select status from providers.credentials')).toEqual([{ status: 'WORKING' }])
    const statements = await graph.statements(() => stage.change('createProcessorCustomer', {}))
    expect(statements.length, statements.join('\n')).toBe(5)
  })

  test('by a caller without the right cost nothing, and are not logged', async () => {
    await using stage = await processorStage()
    const agents = service(stage.organizationId, ['COMPLETIONS'], 'app_agents')
    expect(await stage.refused('createProcessorCustomer', {}, agents)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await stage.calls()).toEqual([])
  })
})
