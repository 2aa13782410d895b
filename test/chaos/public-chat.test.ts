import { expect, test } from 'vitest'
import { solve } from '../subgraphs/agents/chat/visitor.ts'
import { openApart } from './apart.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a row answers is looked at part by part
type Json = any

const question = 'How long does a trial last?'
/** Addresses that nobody else has. */
let last = 0
const newAddress = () => `198.51.100.${++last}`

interface Answered {
  readonly status: number
  readonly json: Json
}

/** How many answers there are of each status, with what limited them. */
const tally = (answers: readonly Answered[]): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const { status, json } of answers) {
    const key = [status, json?.scope ?? json?.reason].filter(Boolean).join(' ')
    found[key] = (found[key] ?? 0) + 1
  }
  return found
}

const times = <Result>(count: number, work: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)))

test('the public chat over two processes keeps its limits to the unit, takes solutions once, and spends no more than its budget', {
  timeout: 400_000,
}, async () => {
  const settings = () => ({ TRUST_PROXY: '1', RATE_LIMIT: '1000000', PUBLIC_CHAT_SITE: 'demo' })
  await using apart = await openApart('agents', { count: 2, settings })
  const { url, rows, demo, control } = apart
  const call = async (address: string, path: string, body?: object): Promise<Answered> => {
    const answer = await fetch(`${url}/agents/api/public/chat${path}`, {
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, json: text === '' ? null : JSON.parse(text) }
  }
  const solved = async (address: string): Promise<string> => solve((await call(address, '/challenge')).json)
  const say = (address: string, more: object) => call(address, '', { message: question, ...more })
  const begun = async (address: string, more: object = {}): Promise<string> => {
    const { status, json } = await say(address, { solution: await solved(address), ...more })
    expect(status, JSON.stringify(json)).toBe(200)
    return json.session.clearance
  }
  await expect.poll(async () => (await rows(`select 1 from agents.knowledge_sources where status <> 'READY'`)).length, { timeout: 60_000 }).toBe(0)
  /** Windows of a minute begin with their first call: what takes longer tells nothing. */
  const withinAMinute = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const from = performance.now()
    const result = await work()
    expect(performance.now() - from, 'ms for what has to happen within a minute').toBeLessThan(58_000)
    return result
  }

  // A solution of which twenty copies come at once begins one session; its copies come to nothing later, too.
  const solution = await solved(newAddress())
  expect(tally(await times(20, () => say(newAddress(), { solution })))).toEqual({ 200: 1, '403 CHALLENGE_FAILED': 19 })
  expect(tally(await times(4, () => say(newAddress(), { solution })))).toEqual({ '403 CHALLENGE_FAILED': 4 })

  // Ten turns a minute of a session, whichever of the processes takes them; the first has begun it.
  const one = newAddress()
  const turns = await withinAMinute(async () => {
    const clearance = await begun(one)
    return times(30, () => say(newAddress(), { clearance }))
  })
  expect(tally(turns)).toEqual({ 200: 9, '429 session': 21 })

  // Thirty turns a minute of an address over its sessions.
  const crowd = newAddress()
  const ofAddress = await withinAMinute(async () => {
    const clearances: string[] = []
    for (const _ of [1, 2, 3, 4]) clearances.push(await begun(crowd))
    return times(48, at => say(crowd, { clearance: clearances[at % 4] }))
  })
  const { 200: taken = 0, '429 address': refused = 0, '429 session': full = 0 } = tally(ofAddress)
  expect([taken, refused + full]).toEqual([26, 22])

  // Sixty challenges a minute of an address.
  const asking = newAddress()
  const challenges = await withinAMinute(() => times(100, () => call(asking, '/challenge')))
  expect(tally(challenges)).toEqual({ 200: 60, '429 address': 40 })

  // Bodies of a megabyte come to nothing.
  expect(
    (await times(8, () => say(newAddress(), { solution: 'x', message: 'x'.repeat(1_000_000) }))).every(({ status }) => status === 400 || status === 413),
  ).toBe(true)

  // Visitors who leave in the middle of an answer that never ends: their calls end, too.
  await control('faults', { network: 'openai', fault: 'endless', times: 6 })
  const leavers = await times(6, async () => newAddress())
  const begunBy = await times(6, at => begun(leavers[at]!, { persona: 'guide' }))
  await times(6, async at => {
    const gone = new AbortController()
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', 'x-forwarded-for': leavers[at]! }
    const body = JSON.stringify({ message: question, persona: 'concierge', clearance: begunBy[at] })
    const answer = await fetch(`${url}/agents/api/public/chat`, { method: 'POST', headers, body, signal: gone.signal })
    expect(answer.status).toBe(200)
    await answer.body!.getReader().read()
    gone.abort()
  })
  const running = () => rows(`select 1 from providers.calls where status = 'RUNNING' and app_id = 'app_agents'`)
  await expect.poll(running, { timeout: 10_000 }).toEqual([])
  await control('faults', { network: 'openai', fault: 'none' })

  // Models of 40 visitors at once, against a budget for a few: what is spent stays within it, and the others are answered from sources.
  // An answer may cost some 22,000 by the dearest model that may give it, and then costs less: two are under way at once, and the rest is refused.
  const hardMicros = 60_000
  await rows(
    `insert into providers.spend_limits (id, level, organization_id, tenant_id, scope_type, scope_value, period, hard_limit_micros, since, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'ORGANIZATION', $1::uuid, $1::uuid, 'ORGANIZATION', $1::uuid::text, 'TOTAL', $2, now(), now(), now(), 'test')`,
    [demo.organizationId, hardMicros],
  )
  const visitors = await times(40, async () => newAddress())
  const clearances: string[] = []
  for (const address of visitors) clearances.push(await begun(address, { persona: 'guide' }))
  const answers = await times(40, at => say(visitors[at]!, { clearance: clearances[at], persona: 'concierge' }))
  expect(tally(answers)).toEqual({ 200: 40 })
  const modes = answers.map(({ json }) => json.message.mode)
  expect(new Set(modes)).toEqual(new Set(['extractive', 'model']))
  const books = `select l.spent_micros::int as spent, l.reserved_micros::int as reserved,
      (select coalesce(sum(cost_micros), 0)::int from providers.calls c
        where c.organization_id = l.organization_id and c.app_id = 'app_agents' and c.created_at >= l.since) as logged
    from providers.spend_limits l where l.hard_limit_micros = $1`
  const [{ spent, reserved, logged }] = (await rows(books, [hardMicros])) as [{ spent: number; reserved: number; logged: number }]
  expect(spent + reserved).toBeLessThanOrEqual(hardMicros)
  expect([spent, reserved]).toEqual([logged, 0])
})
