import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isSlot, slotsWithin } from '../../../../subgraphs/launcher/marketing/demo/slots.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { adminOf, spyOnMails, visitorAt } from './visitor.ts'

let graph: Supergraph
let door: Door
let admin: Viewer
let mails: ReturnType<typeof spyOnMails>
beforeAll(async () => {
  // A Monday morning.
  graph = await supergraph({ now: '2027-03-01T09:10:00Z', marketing: { leadsMailTo: 'sales@acme.test', demoTimeZone: 'Europe/Berlin' } })
  door = await openDoor(graph)
  mails = spyOnMails(graph)
  admin = adminOf((await graph.seed.owner()).owner)
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
  return visitorAt(door, `203.0.113.${addresses}`)
}
const startsAt = '2027-03-09T13:30:00.000Z'
const booking = { startsAt, purpose: 'enterprise', name: 'Bo Booker', email: 'bo@example.com', company: 'Ten & Co', seats: 500, timeZone: 'America/New_York' }
const book = (more: object = {}, headers: Record<string, string> = {}) => visitor().send('demo-bookings', { ...booking, ...more }, headers)
const cancel = (code: unknown) => visitor().ask('POST', 'demo-bookings/cancel', { code })
const free = async (query = '') =>
  (await visitor().ask('GET', `demo-slots${query}`)).json as { timeZone: string; slots: { startsAt: string; endsAt: string }[] }
const startsOf = ({ slots }: Awaited<ReturnType<typeof free>>) => slots.map(slot => slot.startsAt)
const codeOf = (to = 'bo@example.com') => /\/demo\/cancel\?code=([\w-]{43})(?![\w-])/.exec(mails.of('demo-booked', to).at(-1)!.text)![1]!
const leads = async () =>
  (await graph.execute('{ leads(kind: DEMO) { nodes { id status purpose seats startsAt email version } } }', {}, { as: admin })).data().leads.nodes
const refusalOf = ({ status, json }: { status: number; json: { code?: string; reason?: string } }) => [status, json.code, json.reason]

describe('slotsWithin', () => {
  const within = (zone: string, from: string, to: string, now: string) =>
    slotsWithin(zone, { from: new Date(from), to: new Date(to) }, new Date(now)).map(at => at.toISOString())

  it('lists half hours of office hours, Monday to Friday', () => {
    const slots = within('UTC', '2026-03-06T00:00:00Z', '2026-03-09T23:59:00Z', '2026-03-02T00:00:00Z')
    expect(slots).toHaveLength(32)
    expect([slots[0], slots[15], slots[16], slots[31]]).toEqual([
      '2026-03-06T09:00:00.000Z',
      '2026-03-06T16:30:00.000Z',
      '2026-03-09T09:00:00.000Z',
      '2026-03-09T16:30:00.000Z',
    ])
  })

  it('lists none before a day and none after three weeks from now', () => {
    const slots = within('UTC', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z', '2026-03-02T10:00:00Z')
    expect([slots[0], slots.at(-1)]).toEqual(['2026-03-03T10:00:00.000Z', '2026-03-23T10:00:00.000Z'])
  })

  it.each([
    ['Europe/Berlin before clocks change', 'Europe/Berlin', '2026-03-27', '2026-03-27T08:00:00.000Z'],
    ['Europe/Berlin after clocks changed', 'Europe/Berlin', '2026-03-30', '2026-03-30T07:00:00.000Z'],
    ['a zone whose clocks change on a working day', 'Africa/Cairo', '2026-04-24', null],
    ['a zone half an hour off', 'Asia/Kolkata', '2026-03-27', '2026-03-27T03:30:00.000Z'],
    ['a zone far ahead', 'Pacific/Kiritimati', '2026-03-27', '2026-03-26T19:00:00.000Z'],
  ])('follows the clock of %s', (_, zone, day, first) => {
    const noon = Date.parse(`${day}T12:00:00Z`)
    const [from, to] = [noon - 36 * 3_600_000, noon + 36 * 3_600_000].map(at => new Date(at))
    const local = slotsWithin(zone, { from: from!, to: to! }, new Date(noon - 5 * 86_400_000)).filter(
      at => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at) === day,
    )
    const times = local.map(at => new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' }).format(at))
    // Friday is a working day here, whatever it is there.
    expect([times.length, times[0], times.at(-1)]).toEqual([16, '09:00', '16:30'])
    if (first) expect(local[0]!.toISOString()).toBe(first)
  })

  it('knows as slots what it lists, and nothing between', () => {
    expect(['2026-03-06T09:00:00Z', '2026-03-06T09:30:00Z'].map(at => isSlot('UTC', new Date(at)))).toEqual([true, true])
    const none = ['2026-03-06T08:30:00Z', '2026-03-06T17:00:00Z', '2026-03-06T09:15:00Z', '2026-03-06T09:00:01Z', '2026-03-07T09:00:00Z']
    expect(none.filter(at => isSlot('UTC', new Date(at)))).toEqual([])
  })
})

describe('GET /launcher/api/demo-slots', () => {
  it('lists the free slots in the configured zone, with their ends', async () => {
    const { timeZone, slots } = await free('?from=2027-03-09T00:00:00Z&to=2027-03-09T23:59:59Z')
    expect([timeZone, slots.length, slots[0]]).toEqual(['Europe/Berlin', 16, { startsAt: '2027-03-09T08:00:00.000Z', endsAt: '2027-03-09T08:30:00.000Z' }])
    expect(startsOf(await free())[0]).toBe('2027-03-02T09:30:00.000Z')
    expect((await free('?from=2027-03-10T00:00:00Z&to=2027-03-09T00:00:00Z')).slots).toEqual([])
  })

  it.each(['from=yesterday', 'to=2027-13-01T00:00:00Z', 'from=2027-03-09'])('refuses %s', async query => {
    const answer = await visitor().ask('GET', `demo-slots?${query}`)
    expect([answer.status, answer.json.field]).toEqual([400, query.split('=')[0]])
  })
})

describe('POST /launcher/api/demo-bookings', () => {
  it('books a slot, mails the visitor the link that cancels it, and those who look after leads', async () => {
    const { status, json } = await book()
    expect([status, json]).toEqual([201, { id: json.id, startsAt, endsAt: '2027-03-09T14:00:00.000Z', purpose: 'enterprise' }])
    expect(await leads()).toEqual([{ id: json.id, status: 'NEW', purpose: 'enterprise', seats: 500, startsAt, email: 'bo@example.com', version: 1 }])
    const [mail] = mails.of('demo-booked')
    expect(mail).toMatchObject({ to: 'bo@example.com', organizationId: null })
    expect(mail!.text).toContain('9 March 2027 at 08:30 (America/New_York)')
    expect(mail!.text).toContain('http://localhost:4000/marketing/demo/cancel?code=')
    expect(mails.of('lead', 'sales@acme.test')[0]!.text).toContain('Purpose: enterprise')
    expect(startsOf(await free())).not.toContain(startsAt)
    const [row] = await graph.rows<{ row: string }>('select to_jsonb(l)::text as row from launcher.leads l')
    expect(row!.row).not.toContain(codeOf())
  })

  it('gives a slot to one of ten who book it at once', async () => {
    const visitors = Array.from({ length: 10 }, visitor)
    const solutions = await Promise.all(visitors.map(each => each.solution()))
    const answers = await Promise.all(
      visitors.map((each, at) => each.ask('POST', 'demo-bookings', { ...booking, email: `booker${at}@example.com`, solution: solutions[at] })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) expect(refusalOf(answer)).toEqual([409, 'CONFLICT', 'SLOT_TAKEN'])
    expect(await leads()).toHaveLength(1)
    expect(mails.of('demo-booked')).toHaveLength(1)
  })

  it.each([
    ['too soon', 'startsAt', { startsAt: '2027-03-02T09:00:00Z' }],
    ['too late', 'startsAt', { startsAt: '2027-03-29T09:00:00Z' }],
    ['no slot', 'startsAt', { startsAt: '2027-03-09T13:45:00Z' }],
    ['on a Saturday', 'startsAt', { startsAt: '2027-03-06T13:30:00Z' }],
    ['no moment', 'startsAt', { startsAt: 'soon' }],
    ['for another purpose', 'purpose', { purpose: 'fun' }],
    ['for half a person', 'seats', { seats: 1.5 }],
    ['for nobody', 'seats', { seats: -1 }],
    ['in no time zone', 'timeZone', { timeZone: 'Mars/Olympus' }],
    ['of a company in two lines', 'company', { company: 'Ten\nCo' }],
  ])('refuses a demo that is %s', async (_, field, wrong) => {
    const answer = await book(wrong)
    expect([answer.status, answer.json.code, answer.json.field]).toEqual([400, 'BAD_USER_INPUT', field])
    expect(await leads()).toEqual([])
  })

  it('answers a repeated key with the first booking, and mails once', async () => {
    const { ask, solution } = visitor()
    const [body, headers] = [{ ...booking, solution: await solution() }, { 'idempotency-key': 'demo-1' }]
    const [first, again] = [await ask('POST', 'demo-bookings', body, headers), await ask('POST', 'demo-bookings', body, headers)]
    expect([again.status, again.json]).toEqual([201, first.json])
    expect(mails.of('demo-booked')).toHaveLength(1)
  })

  it('needs a solved challenge', async () => {
    expect(refusalOf(await visitor().ask('POST', 'demo-bookings', booking))).toEqual([403, 'FORBIDDEN', 'CHALLENGE_FAILED'])
  })
})

describe('POST /launcher/api/demo-bookings/cancel', () => {
  it('cancels by the mailed code once of eight calls at once, mails both sides, and frees the slot', async () => {
    await book()
    const code = codeOf()
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(code)))
    expect(answers.filter(({ status, text }) => status === 200 && text === '{}')).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200)) expect(refusalOf(answer)).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
    expect(mails.of('demo-cancelled').map(({ to }) => to)).toEqual(['bo@example.com', 'sales@acme.test'])
    expect(startsOf(await free())).toContain(startsAt)
    expect(await leads()).toMatchObject([{ status: 'DONE', startsAt }])
    expect((await book({ email: 'next@example.com' })).status).toBe(201)
    expect(refusalOf(await cancel(code))).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
  })

  it.each(['x'.repeat(43), '', 'nonsense'])('refuses the code %o', async code => {
    expect(refusalOf(await cancel(code))).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
  })

  it('refuses the code of a demo that has begun', async () => {
    await book()
    await graph.rows(`update launcher.leads set starts_at = $1`, [graph.clock.now()])
    expect(refusalOf(await cancel(codeOf()))).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
  })

  it('is over, and the slot free, when an admin calls the lead spam', async () => {
    const { json } = await book()
    await graph.execute('mutation($id: ID!) { updateLead(input: { id: $id, status: SPAM }) { id } }', { id: json.id }, { as: admin })
    expect(startsOf(await free())).toContain(startsAt)
    expect(refusalOf(await cancel(codeOf()))).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
  })
})

describe('bookDemo and cancelDemo', () => {
  it('are in the graph', async () => {
    const input = { ...booking, purpose: 'DEMO', solution: await visitor().solution() }
    const fields = 'id startsAt endsAt purpose'
    const made = (await graph.execute(`mutation($input: BookDemoInput!) { bookDemo(input: $input) { ${fields} } }`, { input })).data().bookDemo
    expect(made).toMatchObject({ startsAt, endsAt: '2027-03-09T14:00:00.000Z', purpose: 'DEMO' })
    const code = codeOf()
    const end = () => graph.execute(`mutation($code: String!) { cancelDemo(input: { code: $code }) { ${fields} } }`, { code })
    expect((await end()).data().cancelDemo).toEqual(made)
    expect((await end()).refused('BAD_USER_INPUT').extensions.reason).toBe('CODE')
  })
})
