import { execFileSync } from 'node:child_process'
import type { Stripe } from 'stripe'
import { expect, test } from 'vitest'
import { createOutbound, type Outbound } from '../../../../platform/outbound/outbound.ts'
import { openClient } from '../../../../subgraphs/providers/processor/stripe/client.ts'
import { failureOf } from '../../../../subgraphs/providers/processor/stripe/failure.ts'
import { send, stage } from '../../../sandbox/stage.ts'

const apiKey = 'sk_test_of_these_tests_alone'

test('loads the client at its first use', () => {
  const script = `
    const { registerHooks } = await import('node:module')
    let found = false
    registerHooks({ resolve: (name, context, next) => { const to = next(name, context); found ||= to.url.includes('/node_modules/stripe/'); return to } })
    await import('./subgraphs/providers/definition.ts')
    const { openClient } = await import('./subgraphs/providers/processor/stripe/client.ts')
    const open = openClient(async () => ({}), 'https://api.example.test/v1')
    const before = found
    await open()
    console.log(JSON.stringify([before, found]))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual([false, true])
})

test('calls public addresses only: to a private one nothing is sent', async () => {
  await using world = await stage()
  const outbound = createOutbound([])
  try {
    const stripe = await openClient(outbound, `http://127.0.0.1:${world.sandbox.port}/stripe/v1`)()
    const error = await stripe.customers.create({}, { apiKey }).catch(error => error)
    expect(failureOf(error, [apiKey])).toMatchObject({
      wasSent: false,
      isUnknown: false,
      refusal: { extensions: { code: 'UPSTREAM_FAILED', outcome: 'not_sent' } },
    })
  } finally {
    await outbound.close()
  }
})

test('waits no longer than its limit, sends a call once, and reveals nothing about the machine', async () => {
  await using world = await stage()
  const way = createOutbound([world.sandbox.origin])
  const sent: Readonly<Record<string, string>>[] = []
  const watched: Outbound = (url, options) => {
    sent.push(options?.headers ?? {})
    return way(url, options)
  }
  const stripe: Stripe = await openClient(watched, `${world.sandbox.origin}/stripe/v1`)()
  try {
    await send(`${world.sandbox.origin}/_control/faults`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'stripe', fault: 'timeout-after-accept' }) },
    })
    const error = await stripe.customers.create({ email: 'a@example.test' }, { apiKey, idempotencyKey: 'one', timeout: 200 }).catch(error => error)
    expect(failureOf(error, [apiKey])).toMatchObject({ wasSent: true, isUnknown: true, refusal: { extensions: { outcome: 'unknown' } } })
    expect(sent).toHaveLength(1)
    expect(Object.keys(sent[0]!).sort()).toEqual(['accept', 'authorization', 'content-type', 'idempotency-key', 'stripe-version'])
    expect((await send(`${world.sandbox.origin}/_control/received?network=stripe`)).body).toHaveLength(1)
  } finally {
    await way.close()
  }
})
