import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type AiWorld, aiWorld } from '../../providers/ai/world.ts'
import { seedKnowledge } from '../knowledge/seed.ts'
import { seedSite, solve, visitor } from './visitor.ts'

const question = 'How much is the harbour fee?'
const chatSessions = '{ chatSessions { nodes { id persona turns { id role text mode flagged helpful comment } } } }'
const updateChatSite = 'mutation($input: UpdateChatSiteInput!) { updateChatSite(input: $input) { slug enabled blockedWords personas { slug default } } }'

let world: AiWorld
let owner: Viewer
let last = 0
/** A visitor from an address that nobody had before. */
const guest = () => visitor(world.graph, `192.0.2.${++last}`)

beforeAll(async () => {
  world = await aiWorld()
  ;({ owner } = world)
  const organizationId = owner.organizationId!
  await seedSite(world.graph, { organizationId, slug: 'acme' })
  await seedKnowledge(world.graph, { organizationId, visibility: 'PUBLIC', text: 'The harbour fee is 42 crowns a month. It is paid on Mondays.' })
  await seedKnowledge(world.graph, { organizationId, text: 'The secret harbour number is 777.' })
})
beforeEach(async () => {
  for (const network of ['openai', 'anthropic']) await world.arm(network)
})
afterAll(() => world[Symbol.asyncDispose]())

const reasons = (answers: readonly { status: number; json: { reason?: string; scope?: string } }[]) =>
  answers.map(({ status, json }) => `${status} ${json.reason ?? json.scope ?? ''}`)

describe('the public chat', () => {
  it('answers whoever has solved a challenge, from public sources with their addresses, and goes on by its clearance', async () => {
    const { say, begin } = guest()
    expect(reasons([await say(question)])).toEqual(['403 CHALLENGE_REQUIRED'])
    const { json, status } = await begin(question)
    expect(status).toBe(200)
    expect(json).toMatchObject({ persona: { slug: 'guide' }, message: { mode: 'extractive', flagged: false }, session: { turnsLeft: 19 } })
    expect(json.message.text).toContain('42 crowns')
    expect(json.message.notice).not.toBeNull()
    expect(json.sources).toEqual([expect.objectContaining({ url: 'https://page.test/' })])
    const next = await say('And when is the harbour fee paid?', { clearance: json.session.clearance })
    expect(next.json).toMatchObject({ session: { id: json.session.id, turnsLeft: 18 }, message: { text: expect.stringContaining('Mondays') } })
    const inside = await say('secret number 777', { clearance: json.session.clearance })
    expect(inside.json).toMatchObject({ sources: [], actions: [] })
    expect(inside.json.message.text).not.toContain('777')
  })

  it('takes a solution once, also of eight at the same moment, and refuses all others in one sentence', async () => {
    const { challenge, say } = guest()
    const solution = solve(await challenge())
    const raced = await Promise.all(Array.from({ length: 8 }, () => say(question, { solution })))
    expect(raced.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(403)])
    const wrong = [solution, solve(await challenge(), 0), Buffer.from('{}').toString('base64'), 'nonsense']
    const answers = await Promise.all(wrong.map(each => say(question, { solution: each })))
    expect(reasons(answers)).toEqual(Array(4).fill('403 CHALLENGE_FAILED'))
    expect(new Set(answers.map(({ json }) => json.detail)).size).toBe(1)
  })

  it.each([
    ['an unknown site', { site: 'nobody' }, 404],
    ['an unknown persona', { persona: 'nobody' }, 400],
    ['no words', { message: '  ' }, 400],
    ['too many words', { message: 'x'.repeat(4_001) }, 400],
  ])('refuses %s', async (_, more, status) => {
    const { challenge, say } = guest()
    expect((await say(question, { solution: solve(await challenge()), ...more })).status).toBe(status)
  })

  it('gives a session ten turns a minute and an address thirty, exactly, and says how long to wait', async () => {
    const one = guest()
    const { clearance } = (await one.begin(question)).json.session
    const turns = await Promise.all(Array.from({ length: 14 }, () => one.say(question, { clearance })))
    expect(turns.filter(({ status }) => status === 200)).toHaveLength(9)
    const over = turns.find(({ status }) => status === 429)!
    expect(over.json).toMatchObject({ code: 'RATE_LIMITED', scope: 'session' })
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
    const crowd = guest()
    const clearances: string[] = []
    for (const _ of [1, 2, 3, 4]) clearances.push((await crowd.begin(question)).json.session.clearance)
    const rest = await Promise.all(Array.from({ length: 36 }, (_, at) => crowd.say(question, { clearance: clearances[at % 4] })))
    expect(rest.filter(({ status }) => status === 200)).toHaveLength(26)
    expect(new Set(rest.filter(({ status }) => status === 429).map(({ json }) => json.scope))).toEqual(new Set(['address']))
  })

  it('ends a session after its time', async () => {
    const { begin, say } = guest()
    const { clearance } = (await begin(question)).json.session
    await world.graph.rows(`update agents.chat_sessions set expires_at = started_at where clearance_hash is not null`)
    expect(reasons([await say(question, { clearance })])).toEqual(['403 CLEARANCE_ENDED'])
  })

  it('streams a model’s answer as meta, deltas that are its text, and done', async () => {
    const { begin } = guest()
    const { text } = await begin('Tell a long story about the harbour fee, please.', { persona: 'concierge' }, { accept: 'text/event-stream' })
    const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, name, data]) => [name!, JSON.parse(data!)] as const)
    const deltas = events.filter(([name]) => name === 'delta').map(([, data]) => data.text)
    expect(events.map(([name]) => name)).toEqual(['meta', ...deltas.map(() => 'delta'), 'done'])
    expect(deltas.length).toBeGreaterThan(1)
    expect(events.at(-1)![1].message).toMatchObject({ mode: 'model', notice: null, text: deltas.join('') })
  })

  it('quotes sources, and says so, while no model answers', async () => {
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'status', status: 503, times: 20 })
    const { json } = await guest().begin(question, { persona: 'concierge' })
    expect(json.message).toMatchObject({ mode: 'extractive', text: expect.stringContaining('42 crowns'), notice: expect.stringContaining('available') })
  })

  it('ends the call at the provider when its visitor leaves', async () => {
    await world.arm('openai', { fault: 'endless' })
    const { challenge, call } = guest()
    const gone = new AbortController()
    const body = { site: 'acme', persona: 'concierge', message: 'Go on for ever', solution: solve(await challenge()) }
    const answer = await call('', body, { accept: 'text/event-stream' }, gone.signal)
    const reader = answer.body!.getReader()
    await reader.read()
    gone.abort()
    await reader.cancel()
    const states = () => world.graph.rows<{ status: string }>(`select status from providers.calls where app_id = 'app_agents' and status = 'RUNNING'`)
    await expect.poll(states, { timeout: 5_000 }).toEqual([])
  })

  it('shows managers what was said, without addresses and numbers, and the visitor’s verdict', async () => {
    const { begin, ask, say } = guest()
    const { json } = await begin(`${question} Write to visitor@example.org or +44 20 7946 0958, card 4242 4242 4242 4242.`)
    const { clearance } = json.session
    const verdict = await ask('/feedback', { clearance, messageId: json.message.id, helpful: true, comment: 'Good' })
    expect(verdict.status).toBe(204)
    await world.graph.clock.advance(10)
    expect((await say('This is a Swindle!', { clearance })).json.message).toMatchObject({ flagged: true })
    const { nodes } = (await world.graph.execute(chatSessions, {}, { as: owner })).data().chatSessions
    const { turns } = nodes.find(({ id }: { id: string }) => id === json.session.id)
    expect(turns[0].text).toContain('Write to [mail] or [phone], card [card].')
    expect(turns[1]).toMatchObject({ id: json.message.id, role: 'AGENT', mode: 'EXTRACTIVE', helpful: true, comment: 'Good' })
    expect(turns.slice(2)).toMatchObject([{ flagged: true }, { flagged: true }])
    const [kept] = await world.graph.rows<{ hash: string }>('select address_hash as hash from agents.chat_sessions')
    expect(kept!.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    ['two defaults', { personas: [1, 2].map(at => ({ slug: `p${at}`, name: 'P', greeting: '', instructions: '', default: true })) }, 'personas'],
    ['a slug twice', { personas: [1, 2].map(() => ({ slug: 'p', name: 'P', greeting: '', instructions: '' })) }, 'personas[1].slug'],
    ['nobody to answer', { enabled: true, personas: [] }, 'personas'],
  ])('cannot be set up with %s', async (_, input, field) => {
    const answer = await world.graph.execute(updateChatSite, { input }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
  })
})
