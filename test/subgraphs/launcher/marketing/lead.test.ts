import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChallenges } from '../../../../platform/caller/challenge.ts'
import { retention } from '../../../../platform/jobs/retention.ts'
import { marketingNouns } from '../../../../subgraphs/launcher/marketing/nouns.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { solve } from '../../agents/chat/visitor.ts'
import { adminOf, spyOnMails, visitorAt } from './visitor.ts'

let graph: Supergraph
let door: Door
let admin: Viewer
let owner: Viewer
let mails: ReturnType<typeof spyOnMails>
beforeAll(async () => {
  graph = await supergraph({ marketing: { leadsMailTo: 'sales@acme.test' } })
  door = await openDoor(graph)
  mails = spyOnMails(graph)
  ;({ owner } = await graph.seed.owner())
  admin = adminOf(owner)
})
beforeEach(async () => {
  await graph.rows('delete from launcher.leads')
  await graph.rows('delete from launcher.rates')
  mails.forget()
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

let addresses = 0
function visitor() {
  addresses += 1
  return visitorAt(door, `198.51.100.${addresses}`)
}
const contact = { kind: 'contact', name: 'Vera Visitor', email: 'Vera@Example.com', message: 'Please call me.' }
const leadFields = 'id kind status name email company purpose product topic page message note version'
const listed = async (filter = '') => (await graph.execute(`{ leads${filter} { nodes { ${leadFields} } totalCount } }`, {}, { as: admin })).data().leads.nodes
const refusalOf = ({ status, json }: { status: number; json: { code?: string; reason?: string; field?: string } | null }) => [status, json?.code, json?.reason]
const failed = [403, 'FORBIDDEN', 'CHALLENGE_FAILED']

describe('GET /launcher/api/challenge', () => {
  it('answers a challenge of 100 to 300 tries that no cache stores', async () => {
    const answer = await visitor().ask('GET', 'challenge')
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { provider: 'altcha', parameters: { cost: 1_000, keyLength: 32 } },
    })
    const { counter } = JSON.parse(Buffer.from(solve(answer.json), 'base64').toString()).solution
    expect(counter).toBeGreaterThanOrEqual(100)
    expect(counter).toBeLessThanOrEqual(300)
  })
})

describe('POST /launcher/api/contact', () => {
  it('takes a message and mails those who look after leads', async () => {
    const { status, json } = await visitor().send('contact', { ...contact, topic: 'Prices', page: '/pricing' })
    expect([status, Object.keys(json)]).toEqual([202, ['id']])
    expect(await listed()).toEqual([
      {
        ...{ id: json.id, kind: 'CONTACT', status: 'NEW', name: 'Vera Visitor', email: 'vera@example.com', company: null, purpose: null, product: null },
        ...{ topic: 'Prices', page: '/pricing', message: 'Please call me.', note: null, version: 1 },
      },
    ])
    const [mail] = mails.of('lead')
    expect(mail).toMatchObject({ to: 'sales@acme.test', organizationId: null, key: `lead:${json.id}` })
    expect(mail!.text).toContain('Name: Vera Visitor')
    expect(mail!.text).toContain('Please call me.')
  })

  it('answers the trap alike, marks the lead as spam and mails nobody', async () => {
    const trapped = await visitor().send('contact', { ...contact, website: 'https://spam.example' })
    const honest = await visitor().send('contact', { ...contact, kind: 'feedback', website: '' })
    expect([trapped.status, Object.keys(trapped.json)]).toEqual([honest.status, Object.keys(honest.json)])
    expect((await listed('(status: SPAM)')).map(({ id }: { id: string }) => id)).toEqual([trapped.json.id])
    expect((await listed('(kind: FEEDBACK)')).map(({ id }: { id: string }) => id)).toEqual([honest.json.id])
    expect(mails.of('lead').map(({ key }) => key)).toEqual([`lead:${honest.json.id}`])
  })

  it('refuses a solution that is missing, wrong, used or expired with one sentence, and stores nothing', async () => {
    const { ask, solution, challenge } = visitor()
    const used = await solution()
    expect((await ask('POST', 'contact', { ...contact, solution: used })).status).toBe(202)
    const old = await solution()
    const answers = [
      await ask('POST', 'contact', contact),
      await ask('POST', 'contact', { ...contact, solution: used }),
      await ask('POST', 'contact', { ...contact, solution: solve(await challenge(), 3) }),
      await graph.clock.advance(301_000).then(() => ask('POST', 'contact', { ...contact, solution: old })),
    ]
    for (const answer of answers) expect(refusalOf(answer)).toEqual(failed)
    expect(new Set(answers.map(({ json }) => json.detail)).size).toBe(1)
    expect(await listed()).toHaveLength(1)
  })

  it('lets a solution count once of eight calls at once', async () => {
    const { ask, solution } = visitor()
    const shared = await solution()
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => ask('POST', 'contact', { ...contact, message: `race ${at}`, solution: shared })))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(await listed()).toHaveLength(1)
  })

  it('accepts no challenge that another service makes with the same secret', async () => {
    const { challengeSecret } = graph.platform.launcher.at.settings.marketing
    expect(challengeSecret).toBeNull()
    const [row] = await graph.rows<{ value: string }>(`select value from launcher.secrets where name = 'challenges'`)
    const secret = graph.platform.launcher.at.foundation.cipher.open(row!.value, 'launcher.secrets:challenges')
    const cheaper = createChallenges({ spend: async () => true, secret, counter: { from: 1, to: 2 } })
    const solution = solve(await cheaper.create(graph.clock.now()))
    expect(refusalOf(await visitor().ask('POST', 'contact', { ...contact, solution }))).toEqual(failed)
  })

  it.each([
    ['email', { email: 'nonsense' }],
    ['email', { email: undefined }],
    ['name', { name: 'two\nlines' }],
    ['message', { message: 'x'.repeat(4_001) }],
    ['kind', { kind: 'demo' }],
    ['kind', { kind: 7 }],
    ['topic', { topic: 'x'.repeat(121) }],
    ['extra', { extra: 'x' }],
  ])('refuses a wrong %s before the solution is used up', async (field, wrong) => {
    const { ask, solution } = visitor()
    const good = await solution()
    const answer = await ask('POST', 'contact', { ...contact, ...wrong, solution: good })
    expect([answer.status, answer.json.code, answer.json.field]).toEqual([400, 'BAD_USER_INPUT', field])
    expect((await ask('POST', 'contact', { ...contact, solution: good })).status).toBe(202)
  })

  it('takes five messages of a mail address an hour, over all addresses of callers', async () => {
    for (let turn = 0; turn < 5; turn += 1) expect((await visitor().send('contact', contact)).status).toBe(202)
    const sixth = await visitor().send('contact', { ...contact, email: 'VERA@example.com' })
    expect([sixth.status, sixth.json.code, sixth.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '3600'])
    expect((await visitor().send('contact', { ...contact, kind: 'feedback' })).status).toBe(202)
    expect((await visitor().send('contact', { ...contact, email: 'other@example.com' })).status).toBe(202)
    await graph.clock.advance(3_600_000)
    expect((await visitor().send('contact', contact)).status).toBe(202)
  })

  it('counts 300 calls of an address in ten minutes, refused ones included', async () => {
    const { ask } = visitor()
    await Promise.all(Array.from({ length: 300 }, () => ask('POST', 'contact', contact)))
    expect((await ask('GET', 'challenge')).status).toBe(429)
    expect((await ask('GET', 'demo-slots')).status).toBe(429)
    expect((await visitor().ask('GET', 'challenge')).status).toBe(200)
    await graph.clock.advance(600_000)
    expect((await ask('GET', 'challenge')).status).toBe(200)
  })

  it('answers a repeated Idempotency-Key with the first message, and refuses it with another', async () => {
    const { ask, solution } = visitor()
    const body = { ...contact, solution: await solution() }
    const headers = { 'idempotency-key': 'message-1' }
    const [first, again] = [await ask('POST', 'contact', body, headers), await ask('POST', 'contact', body, headers)]
    expect([first.status, again.status, again.json]).toEqual([202, 202, first.json])
    expect(refusalOf(await ask('POST', 'contact', { ...body, message: 'Other words' }, headers))).toEqual([409, 'CONFLICT', 'KEY_REUSED'])
    expect(await listed()).toHaveLength(1)
  })

  it('is in the graph, with the same refusals', async () => {
    const submit = (input: object) =>
      graph.execute('mutation($input: SubmitContactInput!) { submitContact(input: $input) { id } }', { input: { ...contact, kind: 'CONTACT', ...input } })
    expect((await submit({})).refused('FORBIDDEN').extensions.reason).toBe('CHALLENGE_FAILED')
    const { id } = (await submit({ solution: await visitor().solution() })).data().submitContact
    expect((await listed()).map((lead: { id: string }) => lead.id)).toEqual([id])
  })
})

describe('POST /launcher/api/waitlist', () => {
  it('holds an address once for a product, and answers it alike', async () => {
    const join = (body: object) => visitor().send('waitlist', { email: 'wanda@example.com', name: 'Wanda', product: 'Mobile', ...body })
    const answers = [await join({}), await join({}), await join({ email: 'WANDA@example.com', product: 'mobile ' })]
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([202, '{}'])
    expect(await listed()).toMatchObject([{ kind: 'WAITLIST', email: 'wanda@example.com', product: 'mobile' }])
    expect(mails.of('lead')).toHaveLength(1)
    await join({ product: 'desktop' })
    expect(await listed('(kind: WAITLIST)')).toHaveLength(2)
  })

  it('holds it once when twenty join at once, and repeats by key', async () => {
    const { ask, solution } = visitor()
    const solutions = await Promise.all(Array.from({ length: 5 }, solution))
    const answers = await Promise.all(
      solutions.map(each => ask('POST', 'waitlist', { email: 'w@example.com', solution: each }, { 'idempotency-key': each.slice(-40) })),
    )
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    const again = await ask('POST', 'waitlist', { email: 'w@example.com', solution: solutions[0] }, { 'idempotency-key': solutions[0]!.slice(-40) })
    expect(again.status).toBe(202)
    expect(await listed()).toHaveLength(1)
  })
})

describe('updateLead', () => {
  const update = (input: object, as = admin) =>
    graph.execute(`mutation($input: UpdateLeadInput!) { updateLead(input: $input) { ${leadFields} } }`, { input }, { as })
  const made = async (): Promise<string> => (await visitor().send('contact', contact)).json.id

  it('moves a lead on and notes something; what is left out stays', async () => {
    const id = await made()
    expect((await update({ id, status: 'OPEN', note: 'Called back' })).data().updateLead).toMatchObject({ status: 'OPEN', note: 'Called back', version: 2 })
    expect((await update({ id, note: '' })).data().updateLead).toMatchObject({ status: 'OPEN', note: null, version: 3 })
    expect((await update({ id, status: 'DONE', expectedVersion: 2 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    const lines = await graph.rows(`select actor, details from launcher.audit_entries where action = 'lead.updated' and subject_id = $1 order by at, id`, [id])
    expect(lines).toEqual([
      { actor: `user:${admin.userId}`, details: { status: 'OPEN', fields: ['status', 'note'] } },
      { actor: `user:${admin.userId}`, details: { status: 'OPEN', fields: ['note'] } },
    ])
  })

  it('is, as reading leads is, for platform admins alone', async () => {
    const id = await made()
    for (const as of [owner, undefined]) {
      const asked = as ? { as } : {}
      ;(await graph.execute('{ leads { nodes { id } } }', {}, asked)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
      ;(await graph.execute('query($id: ID!) { lead(id: $id) { id } }', { id }, asked)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    }
    ;(await update({ id, status: 'DONE' }, owner)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect((await listed())[0].status).toBe('NEW')
    ;(await graph.execute('{ lead(id: "0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e") { id } }', {}, { as: admin })).refused('NOT_FOUND')
  })
})

describe('leads', () => {
  it('are read with one statement, and counted with another', async () => {
    for (let turn = 0; turn < 3; turn += 1) await visitor().send('contact', contact)
    const statements = await graph.statements(() => listed('(kind: CONTACT, status: NEW, first: 2)'))
    expect(statements.filter(text => text.includes('launcher.leads'))).toHaveLength(2)
  })

  it('are deleted after two years', async () => {
    await visitor().send('contact', contact)
    const { at } = graph.platform.launcher
    const run = () => retention(at.foundation, marketingNouns.lead!.retention!(at)).run()
    await graph.rows(`update launcher.leads set created_at = $1`, [new Date(graph.clock.now().getTime() - 729 * 86_400_000)])
    await run()
    expect(await listed()).toHaveLength(1)
    await graph.rows(`update launcher.leads set created_at = $1`, [new Date(graph.clock.now().getTime() - 731 * 86_400_000)])
    await run()
    expect(await listed()).toHaveLength(0)
  })
})
