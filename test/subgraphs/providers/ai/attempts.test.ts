import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../../../platform/clock.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { createAttempts } from '../../../../subgraphs/providers/ai/attempt/attempts.ts'
import { createCooldowns } from '../../../../subgraphs/providers/ai/attempt/cooldown.ts'
import { AttemptFailure, failureOf, restOf } from '../../../../subgraphs/providers/ai/attempt/failure.ts'
import type { CredentialInUse } from '../../../../subgraphs/providers/engines/third-party/credentials.ts'

const credential = (id: string, ...secrets: [string, string?]): CredentialInUse => ({
  id,
  level: 'PLATFORM',
  provider: 'openai',
  name: id,
  baseUrl: null,
  plain: {},
  secrets,
})
const candidate = (name: string) => ({ name, provider: name.split('/')[0]! })
const [first, second, third] = [candidate('openai/first'), candidate('anthropic/second'), candidate('google/third')]
const failing = (status: number, headers: Record<string, string> = {}, body = '{}') =>
  failureOf(status, new Headers(headers), body, Date.parse('2027-03-01T09:00:00Z'))
const timeout = () => new OutboundFailure('x', true, undefined, 'late')

/** Attempts whose candidates do as they are told: one thing a call, the last of them from then on. */
function world(
  told: Readonly<Record<string, readonly (unknown | 'well')[]>>,
  credentials: (provider: string) => CredentialInUse | null = provider => credential(provider, 'secret'),
) {
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  const asked: string[] = []
  const notes: string[] = []
  const counts: string[] = []
  const uncovered = new Set<string>()
  const leaving = new AbortController()
  const runAttempts = createAttempts({
    clock,
    credentials: { note: ({ id }, secret, outcome) => void notes.push(`${id} ${secret} ${outcome}`) },
    counted: (provider, outcome) => void counts.push(`${provider} ${outcome}`),
  })
  const cooldowns = createCooldowns()
  const turns = new Map<string, number>()
  const run = (...candidates: ReturnType<typeof candidate>[]) =>
    runAttempts({
      candidates,
      credentialOf: async ({ provider }) => credentials(provider),
      async attempt({ name }, _credential, secret) {
        asked.push(secret === 'secret' ? name : `${name} by ${secret}`)
        const turn = turns.get(name) ?? 0
        turns.set(name, turn + 1)
        const what = told[name]?.[Math.min(turn, told[name].length - 1)] ?? 'well'
        if (what === 'well') return `by ${name}`
        if (what === 'leave' || what === 'leave and fail') leaving.abort()
        if (what === 'leave and fail') throw timeout()
        throw what === 'leave' ? new OutboundFailure('x', true, undefined, 'left') : what
      },
      signal: leaving.signal,
      cooldowns,
      organizationId: 'ours',
      isHurried: false,
      leastCostOf: async () => 7n,
      isCovered: async ({ name }) => !uncovered.has(name),
    })
  const taken = () => asked.splice(0)
  return { run, clock, taken, notes, counts, uncovered, leave: () => leaving.abort() }
}

describe('an attempt without an answer', () => {
  const connecting = new OutboundFailure('x', false, undefined, 'late')
  test.each([
    ['that ran out of time', timeout(), '7'],
    ['whose connection broke', new OutboundFailure('x', true), '7'],
    ['that was answered with a page', new AttemptFailure('wrong_type', 200, 'x'), '7'],
    ['whose gateway gave up waiting', failing(504), '7'],
    ['that did not reach the provider in time', connecting, undefined],
    ['that never reached the provider', new OutboundFailure('x', false), undefined],
    ['that the provider refused', failing(503), undefined],
    ['that a limit of the provider refused', failing(429), undefined],
  ])('%s is booked at what a provider charges for having taken it, and no other is', async (_what, failure, costMicros) => {
    const { run } = world({ 'openai/first': [failure] })
    const { attempts } = await run(first, second)
    expect(attempts.map(attempt => attempt.costMicros)).toEqual([costMicros, undefined])
  })

  test.each([
    ['leave and fail', '7'],
    ['leave', '7'],
  ])('is booked as well when its caller left (%s)', async (how, costMicros) => {
    const { run } = world({ 'openai/first': [how] })
    expect((await run(first, second)).attempts).toMatchObject([{ failure: 'left', costMicros }])
  })

  test('leads to the next candidate only where limits cover both, and needs no check where no answer was lost', async () => {
    const { run, uncovered, taken } = world({ 'openai/first': [timeout(), failing(503)] })
    uncovered.add(second.name)
    expect(await run(first, second, third)).toMatchObject({ kind: 'answered', candidate: third })
    expect(taken()).toEqual([first.name, third.name])
    expect(await run(first, second, third)).toMatchObject({ kind: 'answered', candidate: second })
  })
})

describe('the candidates of a call', () => {
  test('are tried in order until one answers, and each attempt is reported', async () => {
    const { run, taken, counts } = world({ 'openai/first': [failing(429)], 'anthropic/second': [failing(503)] })
    const end = await run(first, second, third)
    expect(end).toMatchObject({ kind: 'answered', answer: 'by google/third', candidate: third })
    expect(end.attempts).toEqual([
      { provider: 'openai', model: 'openai/first', status: 429, failure: 'rate_limited', latencyMs: expect.any(Number) },
      { provider: 'anthropic', model: 'anthropic/second', status: 503, failure: 'server_error', latencyMs: expect.any(Number) },
      { provider: 'google', model: 'google/third', status: 200, failure: null, latencyMs: expect.any(Number) },
    ])
    expect(taken()).toEqual(['openai/first', 'anthropic/second', 'google/third'])
    expect(counts).toEqual(['openai rate_limited', 'anthropic server_error', 'google answered'])
  })

  test.each([
    ['429', failing(429), 'rate_limited'],
    ['500', failing(500), 'server_error'],
    ['503', failing(503), 'server_error'],
    ['529', failing(529), 'server_error'],
    ['401', failing(401), 'refused_credential'],
    ['403', failing(403), 'refused_credential'],
    ['404', failing(404), 'not_found'],
    ['a redirect', failing(302), 'server_error'],
    ['a time-out', timeout(), 'timeout'],
    ['a cut connection', new OutboundFailure('x', true), 'cut'],
    ['nobody there', new OutboundFailure('x', false), 'unreachable'],
    ['too long an answer', new OutboundFailure('x', true, undefined, 'large'), 'too_large'],
    ['no protocol', new AttemptFailure('malformed', 200, 'x'), 'malformed'],
    ['another type', new AttemptFailure('wrong_type', 200, 'x'), 'wrong_type'],
  ])('move on after %s', async (_what, failure, name) => {
    const { run } = world({ 'openai/first': [failure] })
    const end = await run(first, second)
    expect([end.kind, ...end.attempts.map(attempt => attempt.failure)]).toEqual(['answered', name, null])
    const alone = await world({ 'openai/first': [failure] }).run(first)
    expect(alone).toMatchObject({ kind: 'refused', refusal: { code: name === 'rate_limited' ? 'RATE_LIMITED' : 'UPSTREAM_FAILED' } })
  })

  test.each([400, 402, 405, 408, 409, 413, 415, 422])('end at a %i, with the provider’s sentence', async status => {
    const { run, taken } = world({ 'openai/first': [failing(status, {}, '{"error":{"message":"temperature is too high","param":"temperature"}}')] })
    const end = await run(first, second)
    expect(end).toMatchObject({
      kind: 'refused',
      refusal: { code: 'BAD_USER_INPUT', message: 'temperature is too high', extensions: { field: 'temperature' } },
    })
    expect(taken()).toEqual(['openai/first'])
  })

  test('stop when the caller leaves', async () => {
    const { run, taken } = world({ 'openai/first': ['leave'] })
    expect((await run(first, second)).kind).toBe('left')
    expect(taken()).toEqual(['openai/first'])
  })

  test('are not called any more once the caller has left, whatever else failed at that moment', async () => {
    const late = world({ 'openai/first': ['leave and fail'] })
    expect(await late.run(first, second)).toMatchObject({ kind: 'left', attempts: [{ model: 'openai/first', failure: 'left' }] })
    expect([late.taken(), late.notes, late.counts]).toEqual([['openai/first'], [], ['openai left']])
    const early = world({}, provider => {
      early.leave()
      return credential(provider, 'secret')
    })
    expect([await early.run(first, second), early.taken()]).toEqual([{ kind: 'left', attempts: [] }, []])
  })

  test('get an attempt with the former secret in its grace period after a 401, and after nothing else', async () => {
    const rotated = (provider: string) => credential(provider, 'new', 'old')
    const refused = world({ 'openai/first': [failing(401), 'well'] }, rotated)
    const end = await refused.run(first, second)
    expect(end).toMatchObject({ kind: 'answered', answer: 'by openai/first' })
    expect([end.attempts.length, refused.taken(), refused.notes]).toEqual([
      2,
      ['openai/first by new', 'openai/first by old'],
      ['openai new refused', 'openai old taken'],
    ])
    for (const status of [403, 404, 429, 500]) {
      const broken = world({ 'openai/first': [failing(status)] }, rotated)
      await broken.run(first)
      expect(broken.taken()).toEqual(['openai/first by new'])
    }
    const neither = world({ 'openai/first': [failing(401)] }, rotated)
    expect(await neither.run(first, second)).toMatchObject({ kind: 'answered', candidate: second })
    expect(neither.notes).toEqual(['openai new refused', 'openai old refused', 'anthropic new taken'])
  })

  test('are skipped without a credential; where none has one, the call reports it', async () => {
    const { run, taken } = world({}, provider => (provider === 'anthropic' ? credential(provider, 'secret') : null))
    expect(await run(first, second)).toMatchObject({ kind: 'answered', candidate: second })
    expect(await run(first, third)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'UPSTREAM_FAILED', extensions: { reason: 'no_credential' } },
      attempts: [],
    })
    expect(taken()).toEqual(['anthropic/second'])
  })
})

describe('a candidate with a rate limit', () => {
  test.each([
    ['as long as its provider says', { 'retry-after': '7' }, '{}', 7],
    ['to the millisecond, where it says so', { 'retry-after': '9', 'retry-after-ms': '1500' }, '{}', 1.5],
    ['until the moment that it names', { 'retry-after': 'Mon, 01 Mar 2027 09:00:20 GMT' }, '{}', 20],
    ['ten seconds where it names no time', {}, '{}', 10],
    ['ten seconds where what it names is none', { 'retry-after': 'soon' }, '{}', 10],
    ['five minutes at most', { 'retry-after': '86400' }, '{}', 300],
    ['ten minutes when its quota is used up', { 'retry-after': '1' }, '{"error":{"code":"insufficient_quota"}}', 600],
  ])('rests %s', async (_what, headers, body, seconds) => {
    const { run, clock, taken } = world({ 'openai/first': [failing(429, headers, body), 'well'] })
    expect(await run(first, second)).toMatchObject({ candidate: second })
    clock.advance(seconds * 1000 - 1)
    const resting = await run(first, second)
    expect([resting.kind, resting.attempts.length]).toEqual(['answered', 1])
    expect(await run(first)).toMatchObject({ kind: 'refused', refusal: { code: 'RATE_LIMITED', extensions: { retryAfter: 1 } }, attempts: [] })
    clock.advance(1)
    expect(await run(first, second)).toMatchObject({ candidate: first })
    expect(taken()).toEqual(['openai/first', 'anthropic/second', 'anthropic/second', 'openai/first'])
  })

  test('causes an error with the shortest wait; another failure makes it an outage', async () => {
    const { run } = world({
      'openai/first': [failing(429, { 'retry-after': '30' })],
      'anthropic/second': [failing(429, { 'retry-after-ms': '2300' })],
      'google/third': [failing(500)],
    })
    expect(await run(first, second)).toMatchObject({ refusal: { code: 'RATE_LIMITED', extensions: { retryAfter: 3 } } })
    expect(await run(first, second, third)).toMatchObject({ refusal: { code: 'UPSTREAM_FAILED' } })
  })

  test('rests with this credential and for this model alone', async () => {
    const { run, taken } = world({ 'openai/first': [failing(429)] })
    await run(first)
    await run(candidate('openai/another'))
    expect(taken()).toEqual(['openai/first', 'openai/another'])
  })
})

describe('a cooldown', () => {
  test('is not shortened by a later shorter one of an earlier call', () => {
    const [cooldowns, it] = [createCooldowns(), { credentialId: 'one', model: 'openai/first', organizationId: 'ours' }]
    cooldowns.limited(it, 60_000, 0)
    cooldowns.limited(it, 5_000, 10)
    for (const at of [11, 12, 13]) cooldowns.failed(it, at)
    expect([cooldowns.restOf(it, 59_999), cooldowns.restOf(it, 60_000)]).toEqual([{ until: 60_000, isLimit: true }, null])
    cooldowns.limited(it, 90_000, 20)
    expect(cooldowns.restOf(it, 60_000)?.until).toBe(90_020)
  })

  test.each(['code', 'type'])('lasts ten minutes where the %s of an error says that the quota is used up', name => {
    const failure = failing(429, { 'retry-after': '3' }, JSON.stringify({ error: { message: 'No.', [name]: 'insufficient_quota' } }))
    expect([failure.failure, restOf(failure)]).toEqual(['insufficient_quota', 600_000])
  })
})

describe('a candidate with another failure', () => {
  test('rests for fifteen seconds after the third time in a row within a minute', async () => {
    const { run, clock, taken } = world({ 'openai/first': [failing(500), timeout(), failing(503), 'well'] })
    for (const ms of [29_999, 30_000, 0]) {
      await run(first, second)
      clock.advance(ms)
    }
    taken()
    expect((await run(first, second)).attempts).toHaveLength(1)
    expect(await run(first)).toMatchObject({ refusal: { code: 'UPSTREAM_FAILED' }, attempts: [] })
    clock.advance(14_999)
    await run(first, second)
    expect(taken()).toEqual(['anthropic/second', 'anthropic/second'])
    clock.advance(1)
    expect(await run(first, second)).toMatchObject({ candidate: first })
  })

  test('is not in cooldown after an answer in between, or a minute', async () => {
    const between = world({ 'openai/first': [failing(500), failing(500), 'well', failing(500), failing(500), 'well'] })
    for (let call = 0; call < 6; call++) await between.run(first)
    expect(between.taken()).toHaveLength(6)
    const later = world({ 'openai/first': [failing(500), failing(500), failing(500), 'well'] })
    for (const ms of [30_000, 30_000, 0]) {
      await later.run(first)
      later.clock.advance(ms)
    }
    expect(await later.run(first)).toMatchObject({ kind: 'answered' })
  })

  test('by a request that is wrong in itself does not rest', async () => {
    const { run } = world({ 'openai/first': [failing(400), failing(400), failing(400), 'well'] })
    for (let call = 0; call < 3; call++) await run(first)
    expect(await run(first)).toMatchObject({ kind: 'answered' })
  })
})
