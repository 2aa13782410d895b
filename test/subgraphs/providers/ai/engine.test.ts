import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../../../platform/clock.ts'
import type { createOutbound } from '../../../../platform/outbound/outbound.ts'
import { createUpstream } from '../../../../subgraphs/providers/ai/attempt/upstream.ts'
import { createAdmission } from '../../../../subgraphs/providers/ai/rate.ts'
import type { CredentialInUse } from '../../../../subgraphs/providers/engines/third-party/credentials.ts'
import { lendCalls } from '../../../../subgraphs/providers/stores/ai/call-rates.ts'
import { seedCredential } from '../credential/seed.ts'
import { aiWorld, readStream, secondModel } from './world.ts'

describe('a call of an organization', () => {
  test('costs two statements beside its credential and its models, which are known for a second', async () => {
    await using world = await aiWorld()
    await world.chat('first')
    for (const stream of [false, true]) {
      const statements = await world.graph.statements(async () => void (await (await world.chat('second', { stream })).text()))
      expect(
        statements.filter(text => /providers\.(?!credentials)/.test(text) && !/^delete|for update/i.test(text)),
        statements.join('\n'),
      ).toHaveLength(2)
    }
  })

  test('uses its own credential before the platform’s, and a former secret in its grace period when the new one is rejected', async () => {
    await using world = await aiWorld()
    const hints = async () => (await world.received('openai')).map(({ keyHint }) => keyHint)
    await world.chat('hi')
    const own = await seedCredential(world.graph, { organizationId: world.owner.organizationId, provider: 'openai', secret: 'sk-sandbox-of-their-own' })
    await world.graph.clock.advance(1_000)
    await world.chat('hi')
    expect(await hints()).toEqual(['test', '-own'])
    const rotate = 'mutation($input: RotateCredentialInput!) { rotateCredential(input: $input) { graceEndsAt } }'
    const input = { id: own.id, fields: [{ name: 'apiKey', value: 'sk-refused-by-everybody' }], graceSeconds: 3_600 }
    ;(await world.graph.execute(rotate, { input }, { as: world.owner })).data()
    await world.graph.clock.advance(1_000)
    const answer = await world.chat('hi')
    expect([answer.status, answer.headers.get('x-gateway-attempts'), answer.headers.get('x-gateway-provider')]).toEqual([200, '2', 'openai'])
    expect((await world.callOf(answer)).attempts).toMatchObject([
      { status: 401, failure: 'refused_credential' },
      { status: 200, failure: null },
    ])
    expect(await hints()).toEqual(['test', '-own', '-own'])
  })

  test('to a custom provider goes to the credential’s address, under its name, and has no price', async () => {
    await using world = await aiWorld()
    const own = await seedCredential(world.graph, { organizationId: world.owner.organizationId, name: 'mine', secret: 'sk-sandbox-of-mine' })
    await world.graph.rows('update providers.credentials set base_url = $2 where id = $1', [own.id, `${world.graph.x.origin}/openai/v1`])
    const answer = await world.chat('hi', { model: 'mine/gpt-5-mini' })
    expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([200, 'mine/gpt-5-mini'])
    expect([answer.headers.get('x-gateway-provider'), answer.headers.get('x-gateway-cost-micros')]).toEqual(['mine', null])
    expect(await world.callOf(answer)).toMatchObject({ status: 'SUCCEEDED', cost_micros: null, model: 'mine/gpt-5-mini' })
  })

  test('whose stream stalls ends with an error after the time between two pieces', async () => {
    await using world = await aiWorld({ aiTimes: { idleMs: 60 } })
    await world.arm('openai', { fault: 'timeout-after-accept' })
    const moved = await readStream(await world.chat('a b c', { stream: true }, { headers: { 'x-gateway-timeout-ms': '500' } }))
    expect([moved.done, moved.events[0]!.model]).toEqual([true, secondModel])
  })

  test('ends with the time that a call has in all', async () => {
    await using world = await aiWorld({ aiTimes: { totalMs: 400 } })
    await world.arm('openai', { fault: 'endless' })
    const broken = await readStream(await world.chat('a b c', { stream: true }))
    expect([broken.done, broken.events.at(-1)]).toEqual([false, { error: expect.objectContaining({ type: 'upstream_error', code: 'timeout' }) }])
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'timeout-after-accept', times: 5 })
    const late = await world.chat('a b c')
    expect(late.status).toBe(502)
  })

  test.each([
    ['OFF', null],
    ['REDACTED', expect.not.stringContaining('me@example.test')],
    ['FULL', 'Write to me@example.test'],
  ])('of an organization that keeps prompts %s has that on record', async (promptStorage, kept) => {
    await using world = await aiWorld()
    const change = 'mutation($input: UpdateProviderOrganizationInput!) { updateProviderOrganization(input: $input) { promptStorage } }'
    ;(await world.graph.execute(change, { input: { promptStorage } }, { as: world.owner })).data()
    const answer = await world.chat('Write to me@example.test')
    expect((await world.callOf(answer)).prompt).toEqual(kept)
  })

  test('whose caller left before any answer is logged as left, at the price of its input', async () => {
    await using world = await aiWorld()
    await world.arm('openai', { fault: 'timeout-after-accept' })
    const leaving = new AbortController()
    const asked = world.chat('hi', {}, { signal: leaving.signal })
    await expect.poll(async () => (await world.received('openai')).length).toBe(1)
    leaving.abort()
    const answer = await asked
    expect(await world.callOf(answer)).toMatchObject({ status: 'ABORTED', cost_micros: expect.stringMatching(/^[1-9]/) })
    expect(await world.received('anthropic')).toEqual([])
  })

  test.each([
    ['the gateway before the provider', { success: false, result: [], messages: [], error: [{ code: 2009, message: 'Unauthorized' }] }, 'server_error'],
    ['the provider behind it', { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 'refused_credential'],
  ])('that is refused by %s says so of that one alone', async (_what, body, failure) => {
    const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
    const stream = (async () => ({
      status: 401,
      headers: new Headers({ 'content-type': 'application/json' }),
      body: (async function* () {
        yield Buffer.from(JSON.stringify(body))
      })(),
      cancel() {},
    })) as unknown as ReturnType<typeof createOutbound>['stream']
    const aiGateway = { url: 'https://gateway.test/v1/a/b', token: 'old' }
    const addresses = { openai: 'https://openai.test/v1', anthropic: 'https://anthropic.test', google: 'https://google.test', aiGateway }
    const { ask } = createUpstream({ stream, addresses, times: { firstByteMs: 1_000, idleMs: 1_000, totalMs: 1_000 }, clock })
    const hurry = { endsAt: performance.now() + 1_000, attemptMs: null, signal: new AbortController().signal }
    const question = { path: '/chat/completions', body: '{}', headers: {}, type: 'application/json' }
    const credential = { baseUrl: null } as CredentialInUse
    await expect(ask({ name: 'openai/a', provider: 'openai' }, credential, 'sk', question, hurry)).rejects.toMatchObject({ failure, status: 401 })
  })

  test('goes through the hosting platform’s gateway where there is one, with the same answer', async () => {
    const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
    const asked: unknown[] = []
    const stream = (async (url: string, { headers }: { headers: Record<string, string> }) => {
      asked.push([url, headers['cf-aig-authorization'], headers.authorization ?? headers['x-api-key']])
      throw new Error('far enough')
    }) as unknown as ReturnType<typeof createOutbound>['stream']
    const addresses = {
      openai: 'https://openai.test/v1',
      anthropic: 'https://anthropic.test',
      google: 'https://google.test',
      aiGateway: { url: 'https://gateway.test/v1/a/b', token: 'secret' },
    }
    const upstream = createUpstream({ stream, addresses, times: { firstByteMs: 1, idleMs: 1, totalMs: 1 }, clock })
    const hurry = { endsAt: performance.now() + 1_000, attemptMs: null, signal: new AbortController().signal }
    const credential = (baseUrl: string | null) => ({ baseUrl }) as CredentialInUse
    for (const [provider, path, baseUrl] of [
      ['openai', '/chat/completions', null],
      ['anthropic', '/v1/messages', null],
      ['google', '/chat/completions', null],
      ['custom', '/chat/completions', 'https://own.test/v1'],
    ] as const)
      await upstream
        .ask({ name: 'x', provider }, credential(baseUrl), 'key', { path, body: '{}', headers: {}, type: 'application/json' }, hurry)
        .catch(() => {})
    expect(asked).toEqual([
      ['https://gateway.test/v1/a/b/openai/chat/completions', 'Bearer secret', 'Bearer key'],
      ['https://gateway.test/v1/a/b/anthropic/v1/messages', 'Bearer secret', 'key'],
      ['https://gateway.test/v1/a/b/google-ai-studio/v1beta/openai/chat/completions', 'Bearer secret', 'Bearer key'],
      ['https://own.test/v1/chat/completions', undefined, 'Bearer key'],
    ])
  })
})

describe('the limit of an organization’s calls in a minute', () => {
  test('is counted exactly over several processes, and restarts with the minute', async () => {
    await using world = await aiWorld()
    const { clock, database } = world.graph
    const processes = Array.from({ length: 3 }, () => createAdmission((...wanted) => lendCalls(database.sequelize, ...wanted), clock, 500))
    const organization = world.owner.organizationId!
    const ask = async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 900 }, (_, at) => (async () => processes[at % 3]!(organization))()))
      return [outcomes.filter(({ status }) => status === 'fulfilled').length, outcomes.find(outcome => outcome.status === 'rejected')?.reason] as const
    }
    const [passed, refusal] = await ask()
    expect([passed, refusal.code, refusal.extensions.retryAfter]).toEqual([500, 'RATE_LIMITED', 60])
    await clock.advance(59_999)
    expect((await ask())[0]).toBe(0)
    await clock.advance(1)
    expect((await ask())[0]).toBe(500)
    // Others have a minute of their own.
    await processes[0]!('00000000-0000-4000-8000-000000000001')
  })

  test('costs a statement now and then', async () => {
    const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
    let asked = 0
    const admit = createAdmission(
      async (_organization, _minute, want) => {
        asked++
        return want
      },
      clock,
      6_000,
    )
    await Promise.all(Array.from({ length: 600 }, async () => admit('one')))
    expect(asked).toBe(10)
  })
})
