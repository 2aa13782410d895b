import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChallengeProvider } from '../../../../platform/outbound/challenge-provider.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedKnowledge } from '../knowledge/seed.ts'
import { seedSite, visitor } from './visitor.ts'

const question = 'How much is the harbour fee?'
const paths = { turnstile: '/turnstile/v0/siteverify', hcaptcha: '/hcaptcha/siteverify' } as const
let last = 0

/** A platform whose visitors are challenged by a provider, which the sandbox plays. */
async function stage(provider: ChallengeProvider, secret = '0xSANDBOX') {
  const challenges = (sandbox: string) => ({
    ...{ provider, secret, siteKey: 'site-key', verifyUrl: `${sandbox}/challenge${paths[provider]}` },
    isOwnPage: (name: string) => name === 'shop.example',
  })
  const graph = await supergraph({ sandbox: true, challenges })
  const organizationId = (await graph.seed.owner()).owner.organizationId!
  await seedSite(graph, { organizationId, slug: 'acme' })
  await seedKnowledge(graph, { organizationId, visibility: 'PUBLIC', text: 'The harbour fee is 42 crowns a month.' })
  return graph
}

const control = async (graph: Supergraph, path: string, body?: object) => {
  const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'challenge', ...body }) }
  return (await fetch(`${graph.x.origin}/_control/${path}`, init)).json()
}
const guest = (graph: Supergraph) => visitor(graph, `198.51.100.${++last}`)
const sessions = async (graph: Supergraph) => (await graph.rows('select 1 from agents.chat_sessions')).length
/** How often the provider was asked. */
const asked = (graph: Supergraph) => graph.sent.filter(each => each.includes('siteverify')).length

describe.each(['turnstile', 'hcaptcha'] as const)('a visitor challenged by %s', provider => {
  let graph: Supergraph
  const token = async (more: object = {}): Promise<string> => (await control(graph, 'tokens', { provider, hostname: 'shop.example', ...more })).token
  const arm = (fault: object) => control(graph, 'faults', fault)
  beforeAll(async () => {
    graph = await stage(provider)
  })
  beforeEach(async () => void (await arm({ fault: 'none' })))
  afterAll(() => graph[Symbol.asyncDispose]())

  it('is told the provider and its key, and let in for a token of it', async () => {
    const { challenge, say } = guest(graph)
    expect(await challenge()).toEqual({ provider, siteKey: 'site-key' })
    expect((await say(question)).json).toMatchObject({ reason: 'CHALLENGE_REQUIRED', challenge: { provider, siteKey: 'site-key' } })
    const begun = await say(question, { solution: await token() })
    expect([begun.status, begun.json.message.text]).toEqual([200, expect.stringContaining('42 crowns')])
    const { clearance } = begun.json.session
    const before = asked(graph)
    expect((await say(question, { clearance })).status).toBe(200)
    expect(asked(graph)).toBe(before)
  })

  it('is let in once for a token, also of eight at the same moment', async () => {
    const { say } = guest(graph)
    const solution = await token()
    const raced = await Promise.all(Array.from({ length: 8 }, () => say(question, { solution })))
    expect(raced.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(403)])
  })

  it('is refused in one sentence for a token that is unknown, expired, used, of another page, or no token', async () => {
    const { say } = guest(graph)
    const used = await token()
    await say(question, { solution: used })
    const before = await sessions(graph)
    const wrong = [used, 'nonsense', await token({ ageSeconds: 3_600 }), await token({ hostname: 'elsewhere.example' }), 'x'.repeat(9_000)]
    const answers = await Promise.all(wrong.map(solution => say(question, { solution })))
    expect(answers.map(({ status, json }) => `${status} ${json.reason}`)).toEqual(Array(wrong.length).fill('403 CHALLENGE_FAILED'))
    expect(new Set(answers.map(({ json }) => json.detail)).size).toBe(1)
    expect(await sessions(graph)).toBe(before)
  })

  it.each([
    ['answers 503', { fault: 'status', status: 503 }],
    ['cuts the connection', { fault: 'accept-then-reset' }],
    ['answers no JSON', { fault: 'malformed' }],
    ['answers a page', { fault: 'wrong-type' }],
    ['never answers', { fault: 'timeout-after-accept' }],
  ])('begins no session while the provider %s, in bounded time', { timeout: 60_000 }, async (_, fault) => {
    const { say } = guest(graph)
    const before = await sessions(graph)
    await arm({ times: 1, ...fault })
    const began = performance.now()
    const answer = await say(question, { solution: await token() })
    expect([answer.status, answer.json.code]).toEqual([502, 'UPSTREAM_FAILED'])
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(await sessions(graph)).toBe(before)
  })

  it('does not have the provider asked for more than sixty wrong tokens a minute', async () => {
    const { say } = guest(graph)
    for (let at = 0; at < 60; at += 6) await Promise.all(Array.from({ length: 6 }, () => say(question, { solution: 'nonsense' })))
    const before = asked(graph)
    const over = await say(question, { solution: 'nonsense' })
    expect([over.status, over.json.scope]).toEqual([429, 'address'])
    expect(asked(graph)).toBe(before)
  })
})

describe('a platform that is set up wrongly at the provider', () => {
  it('begins no session, and says so in the log', async () => {
    await using graph = await stage('turnstile', 'a-secret-of-nobody')
    const answer = await guest(graph).say(question, { solution: 'XXXX.DUMMY.TOKEN.XXXX' })
    expect(answer.status).toBe(502)
    expect(graph.log.join('\n')).toContain('invalid-input-secret')
    expect(graph.log.join('\n')).not.toContain('a-secret-of-nobody')
  })
})

describe('the secrets that providers publish for tests', () => {
  it.each([
    ['turnstile', '1x0000000000000000000000000000000AA', 'XXXX.DUMMY.TOKEN.XXXX', [200, 200]],
    ['turnstile', '2x0000000000000000000000000000000AA', 'XXXX.DUMMY.TOKEN.XXXX', [403, 403]],
    ['turnstile', '3x0000000000000000000000000000000AA', 'XXXX.DUMMY.TOKEN.XXXX', [403, 403]],
    ['hcaptcha', '0x0000000000000000000000000000000000000000', '10000000-aaaa-bbbb-cccc-000000000001', [200, 200]],
  ] as const)('of %s, %s, take their token as documented', async (provider, secret, solution, statuses) => {
    await using graph = await stage(provider, secret)
    const { say } = guest(graph)
    expect([(await say(question, { solution })).status, (await say(question, { solution })).status]).toEqual(statuses)
  })
})
