import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localTime, startOfDay } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { escapeText, fold } from '../../../../subgraphs/publishing/planning/calendar/ical.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'
import { deletePost, updatePost } from '../documents.ts'
import { seedPost } from '../post/seed.ts'
import { seedCampaign } from './seed.ts'

let graph: Supergraph
let door: Door
let owner: Viewer
let outsider: Viewer
let organizationId: string
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
  door = await openDoor(graph)
  const world = await graph.seed.owner().outsider()
  owner = world.owner
  outsider = world.outsider
  organizationId = world.organization.id
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

/** A brand with a calendar of its own. */
async function brandIn(timeZone: string): Promise<string> {
  const { job } = graph
  const { id } = await seedBrand(graph, { organizationId })
  await inTransaction(job, async ({ transaction }) => job.brands.update((await job.brands.lock(id, transaction))!, { timeZone }, transaction))
  return id
}
/** A post that was given a time, on networks too that cannot be published to here. */
const planned = async (brandId: string, at: string, more: object = {}) =>
  (await seedPost(graph, { brandId, owner }, { ...more, row: { status: 'SCHEDULED', scheduledAt: new Date(at) } })).id
const document = `query($brandId: ID, $from: DateTime!, $to: DateTime!, $first: Int, $after: String) {
  calendarEntries(brandId: $brandId, from: $from, to: $to, first: $first, after: $after) {
    nodes { id kind at endsAt day time title platform status conflicts } pageInfo { hasNextPage endCursor } totalCount } }`
const calendar = async (brandId: string, from: string, to: string, more: object = {}) =>
  (await graph.execute(document, { brandId, from, to, ...more }, { as: owner })).data().calendarEntries
const move = (id: string, at: string, more: object = {}) =>
  graph.execute('mutation($input: MoveCalendarEntryInput!) { moveCalendarEntry(input: $input) { id at day } }', { input: { id, at, ...more } }, { as: owner })

describe('P-18 the calendar of a brand', () => {
  test('shows days and times of its own time zone, posts and campaigns in order, the end of the range excluded', async () => {
    const id = await brandIn('Asia/Tokyo')
    const post = await planned(id, '2100-02-28T20:30:00.000Z', { copy: 'Spring\nand more' })
    await planned(id, '2100-03-10T00:00:00.000Z')
    const campaign = await seedCampaign(graph, { brandId: id, name: 'Launch', startsOn: '2100-03-01', endsOn: '2100-03-02' })
    await seedCampaign(graph, { brandId: id, startsOn: '2100-03-11' })
    await seedCampaign(graph, { brandId: id, startsOn: '2100-03-01', archivedAt: graph.clock.now() })
    // Its last day ends in Tokyo where the range begins.
    await seedCampaign(graph, { brandId: id, startsOn: '2100-02-18', endsOn: '2100-02-19' })
    const { nodes, totalCount } = await calendar(id, '2100-02-19T15:00:00Z', '2100-03-10T00:00:00Z')
    expect(nodes).toMatchObject([
      {
        id: campaign.id,
        kind: 'CAMPAIGN',
        at: '2100-02-28T15:00:00.000Z',
        endsAt: '2100-03-02T15:00:00.000Z',
        day: '2100-03-01',
        time: '00:00',
        title: 'Launch',
      },
      { id: post, kind: 'POST', day: '2100-03-01', time: '05:30', title: 'Spring', platform: 'X', status: 'SCHEDULED', endsAt: null, conflicts: [] },
    ])
    expect(totalCount).toBe(2)
  })

  test('pages through both kinds without losing or repeating any', async () => {
    const id = await brandIn('America/New_York')
    const made: string[] = []
    for (let day = 1; day <= 4; day += 1) {
      made.push(await planned(id, `2100-05-0${day}T12:00:00.000Z`))
      made.push((await seedCampaign(graph, { brandId: id, startsOn: `2100-05-0${day}` })).id)
    }
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo } = await calendar(id, '2100-05-01T00:00:00Z', '2100-05-30T00:00:00Z', { first: 3, after })
      seen.push(...nodes.map((node: { id: string }) => node.id))
      after = pageInfo.endCursor
      if (!pageInfo.hasNextPage) break
    }
    expect(seen.toSorted()).toEqual(made.toSorted())
  })

  test('warns of posts less than 15 minutes apart at the same place, and not for other networks, places, brands or the same thread', async () => {
    const id = await brandIn('UTC')
    const [one, two] = [await planned(id, '2100-06-01T12:00:00Z'), await planned(id, '2100-06-01T12:14:59Z')]
    const third = await planned(id, '2100-06-01T12:29:59Z')
    await planned(id, '2100-06-01T12:05:00Z', { platform: 'LINKEDIN' })
    await planned(await brandIn('UTC'), '2100-06-01T12:05:00Z')
    const page = (name: string) => ({ platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: name, name: null } })
    const [here, there] = [await planned(id, '2100-06-01T12:00:01Z', page('1')), await planned(id, '2100-06-01T12:00:02Z', page('2'))]
    const first = await planned(id, '2100-06-01T12:00:00Z', { platform: 'THREADS' })
    const next = await planned(id, '2100-06-01T12:00:00Z', { platform: 'THREADS', threadId: first })
    const { nodes } = await calendar(id, '2100-06-01T00:00:00Z', '2100-06-02T00:00:00Z')
    const told = Object.fromEntries(nodes.map((node: { id: string; conflicts: string[] }) => [node.id, node.conflicts]))
    expect(told).toMatchObject({ [one]: [two], [two]: [one], [third]: [], [here]: [], [there]: [], [first]: [], [next]: [] })
  })

  test('warns regardless of the length of the posts', async () => {
    const id = await brandIn('UTC')
    for (let at = 0; at < 30; at += 1) await planned(id, '2100-06-05T12:00:00Z', { platform: 'FACEBOOK', copy: 'x'.repeat(50_000) })
    const { nodes } = await calendar(id, '2100-06-05T00:00:00Z', '2100-06-06T00:00:00Z', { first: 30 })
    expect(nodes.map((node: { conflicts: string[] }) => node.conflicts.length)).toEqual(Array(30).fill(29))
  })

  test('costs the same statements for three entries and for thirty', async () => {
    const id = await brandIn('UTC')
    const ask = () => graph.statements(() => calendar(id, '2100-07-01T00:00:00Z', '2100-08-01T00:00:00Z', { first: 100 }))
    for (let minute = 0; minute < 3; minute += 1) await planned(id, `2100-07-01T12:0${minute}:00Z`)
    const few = await ask()
    for (let minute = 10; minute < 37; minute += 1) await planned(id, `2100-07-01T12:${minute}:00Z`)
    expect((await ask()).length).toBe(few.length)
  })

  test.each([
    ['of 62 days and a second', '2100-01-01T00:00:00Z', '2100-03-04T00:00:01Z'],
    ['that is empty', '2100-01-01T00:00:00Z', '2100-01-01T00:00:00Z'],
  ])('is not told for a range %s', async (_, from, to) => {
    const id = await brandIn('UTC')
    expect((await graph.execute(document, { brandId: id, from, to }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe('to')
  })

  test('moves scheduled posts, never drafts or sent ones, and not against a newer version', async () => {
    const id = await brandIn('Asia/Tokyo')
    const post = await planned(id, '2100-02-28T20:30:00.000Z')
    expect((await move(post, '2100-03-02T01:00:00.000Z')).data().moveCalendarEntry).toEqual({ id: post, at: '2100-03-02T01:00:00.000Z', day: '2100-03-02' })
    ;(await move(post, '2100-03-03T01:00:00.000Z', { expectedVersion: 1 })).refused('CONFLICT')
    const { id: draft } = await seedPost(graph, { brandId: id, owner })
    expect((await move(draft, '2100-03-02T01:00:00Z')).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'DRAFT' })
    const campaign = await seedCampaign(graph, { brandId: id, startsOn: '2100-03-01' })
    expect((await move(campaign.id, '2100-03-02T01:00:00Z')).refused('BAD_USER_INPUT').message).toContain('updateCampaign')
    ;(await move(newId(), '2100-03-02T01:00:00Z')).refused('NOT_FOUND')
    ;(await move('nonsense', '2100-03-02T01:00:00Z')).refused('BAD_USER_INPUT')
  })
})

describe('the address for calendar programs', () => {
  const create = async (brandId: string) =>
    (await graph.execute('mutation($id: ID!) { createCalendarFeed(input: { brandId: $id }) { url } }', { id: brandId }, { as: owner })).data()
      .createCalendarFeed.url as string
  const revoke = (brandId: string) =>
    graph.execute('mutation($id: ID!) { revokeCalendarFeed(input: { brandId: $id }) { url } }', { id: brandId }, { as: owner })
  const read = (url: string) => door.ask('GET', new URL(url).pathname)

  test('shows scheduled and published posts, ends when it is replaced or revoked, and is not stored in clear text', async () => {
    const id = await brandIn('UTC')
    const at = (days: number) => graph.clock.in(days * 86_400_000).toISOString()
    const [near, far] = [await planned(id, at(30), { copy: 'Salt, pepper; and\nso on' }), await planned(id, at(366))]
    const draft = (await seedPost(graph, { brandId: id, owner })).id
    const [first, second] = [await create(id), await create(id)]
    expect((await read(first)).status, 'replaced').toBe(404)
    const answer = await read(second)
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': expect.stringMatching(/^text\/calendar/) } })
    expect(await door.ask('HEAD', new URL(second).pathname)).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-type': answer.headers['content-type'] },
    })
    expect(answer.text.endsWith('END:VCALENDAR\r\n')).toBe(true)
    expect(answer.text.split('\r\n').every(line => Buffer.byteLength(line) <= 75)).toBe(true)
    const whole = answer.text.replaceAll('\r\n ', '')
    expect(whole).toContain(`UID:${near}@publishing`)
    expect(whole).toContain('DESCRIPTION:Salt\\, pepper\\; and\\nso on')
    for (const other of [far, draft]) expect(whole).not.toContain(other)
    const token = /([\w-]+)\.ics$/.exec(second)![1]!
    expect(JSON.stringify(await graph.rows('select * from publishing.calendar_feeds'))).not.toContain(token)
    expect(graph.log.join('\n')).not.toContain(token)
    expect((await revoke(id)).data().revokeCalendarFeed.url).toBeNull()
    expect((await read(second)).status, 'revoked').toBe(404)
    ;(await revoke(id)).refused('NOT_FOUND')
  })

  test('ends when the brand moves to another organization', async () => {
    const id = await brandIn('UTC')
    const url = await create(id)
    await graph.rows('update publishing.brands set organization_id = $2 where id = $1', [id, outsider.organizationId])
    expect((await read(url)).status).toBe(404)
  })

  test('writes lines of 75 octets that divide no character, and texts that end no line', () => {
    const folded = fold(`SUMMARY:${'ä😀'.repeat(40)}`)
    expect(folded.split('\r\n').every(line => Buffer.byteLength(line) <= 75 && line.isWellFormed())).toBe(true)
    expect(folded.replaceAll('\r\n ', '')).toBe(`SUMMARY:${'ä😀'.repeat(40)}`)
    expect(escapeText('a\r\nb\rc\\;,\u0007\u2028d\u0085e')).toBe('a\\nb\\nc\\\\\\;\\,\\nd\\ne')
  })
})

describe('days of a zone', () => {
  test.each([
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'], // no midnight: clocks go from 24:00 to 01:00
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['Asia/Kathmandu', '2026-07-01', '2026-06-30T18:15:00.000Z'],
    ['UTC', '2026-02-28', '2026-02-28T00:00:00.000Z'],
  ])('%s begins %s at %s', (zone, day, begins) => {
    expect(startOfDay(zone, day).toISOString()).toBe(begins)
    expect(localTime(zone, startOfDay(zone, day)).day).toBe(day)
    expect(localTime(zone, new Date(startOfDay(zone, day).getTime() - 1)).day < day).toBe(true)
  })
})

test('a change of a planned post appears in the calendar at once, and a deleted one disappears', async () => {
  const id = await brandIn('UTC')
  const post = await planned(id, '2100-09-01T12:00:00Z')
  const range = ['2100-09-01T00:00:00Z', '2100-09-30T00:00:00Z'] as const
  ;(await graph.execute(updatePost, { input: { id: post, copy: 'Otherwise' } }, { as: owner })).data()
  expect((await calendar(id, ...range)).nodes).toMatchObject([{ title: 'Otherwise' }])
  ;(await graph.execute(deletePost, { input: { id: post } }, { as: owner })).data()
  expect((await calendar(id, ...range)).nodes).toEqual([])
})
