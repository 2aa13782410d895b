import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes, scopesOf } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { personally } from '../../../../kit/viewers.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let viewer: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
})
beforeEach(async () => {
  ;({ owner, member, viewer, outsider } = await graph.seed.owner().member().viewer().outsider())
})
afterAll(() => graph[Symbol.asyncDispose]())

/** Somebody who looks after the platform, in an organization of their own. */
const administrator = (): Viewer => ({ ...outsider, roles: ['platform_super_admin'], scopes: scopesOf(['platform_super_admin']) })
const alone = (who: Viewer): Viewer => ({ ...personally(who), scopes: personalScopes })
const soon = (seconds: number) => new Date(graph.clock.now().getTime() + 1_000 * seconds).toISOString()
const fields = 'id title body severity audience from until url dismissed createdBy { id } version'
const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const change = (as: Viewer, name: string, input: object) =>
  ask(as, `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`, { input })
const made = async (title: string, more: object = {}, as = owner) =>
  (await change(as, 'createAnnouncement', { title, body: 'Read this.', ...more })).data().createAnnouncement
const titles = async (as: Viewer, more = ''): Promise<string[]> =>
  (await ask(as, `{ announcements${more} { title } }`)).data().announcements.map(({ title }: { title: string }) => title)
const listen = (as: Viewer) => graph.subscribe(`subscription { announcementChanged { ${fields} } }`, {}, { as })

describe('announcements', () => {
  it('are seen by their readers from begin to end, the most severe first, then the newest', async () => {
    await made('Old')
    await graph.clock.advance(10)
    await made('New')
    await made('Urgent', { severity: 'CRITICAL' })
    await made('Managers', { severity: 'WARNING', audience: 'MANAGERS' })
    await made('Later', { from: soon(60) })
    await graph.clock.advance(10)
    await made('Short', { severity: 'WARNING', until: soon(30) })
    expect(await titles(member)).toEqual(['Urgent', 'Short', 'New', 'Old'])
    expect(await titles(owner)).toEqual(['Urgent', 'Short', 'Managers', 'New', 'Old'])
    expect(await titles(outsider)).toEqual([])
    await graph.clock.advance(30_000)
    expect(await titles(member)).toEqual(['Urgent', 'New', 'Old'])
    await graph.clock.advance(30_000)
    expect(await titles(member)).toEqual(['Urgent', 'Later', 'New', 'Old'])
  })

  it('with all are every one of the organization, for its managers alone', async () => {
    const past = await made('Past', { until: soon(1) })
    await made('Later', { from: soon(60) })
    await made('Now', { audience: 'MANAGERS' })
    ;(await change(owner, 'dismissAnnouncement', { id: past.id })).data()
    await graph.clock.advance(2_000)
    await change(owner, 'deleteAnnouncement', { id: (await made('Deleted')).id })
    expect((await titles(owner, '(all: true)')).sort()).toEqual(['Later', 'Now', 'Past'])
    expect(await titles({ ...owner, organizationId: outsider.organizationId, userId: outsider.userId }, '(all: true)')).toEqual([])
    ;(await ask(member, '{ announcements(all: true) { id } }')).refused('FORBIDDEN')
    ;(await ask(alone(owner), '{ announcements(all: true) { id } }')).refused('FORBIDDEN')
  })

  it('of the platform are seen in every organization and in personal context', async () => {
    const later = await made('Later', { audience: 'PLATFORM', from: soon(60) }, administrator())
    const { id } = await made('Platform', { audience: 'PLATFORM' }, administrator())
    for (const reader of [member, outsider, alone(member)]) expect(await titles(reader)).toEqual(['Platform'])
    expect((await titles(administrator(), '(all: true)')).sort()).toEqual(['Later', 'Platform'])
    expect(await titles(owner, '(all: true)')).toEqual([])
    ;(await change(owner, 'updateAnnouncement', { id, title: 'x' })).refused('FORBIDDEN')
    ;(await change(owner, 'deleteAnnouncement', { id })).refused('FORBIDDEN')
    ;(await change(owner, 'dismissAnnouncement', { id: later.id })).refused('NOT_FOUND')
    for (const each of [id, later.id]) (await change(administrator(), 'deleteAnnouncement', { id: each })).data()
    expect(await titles(member)).toEqual([])
  })
})

describe('createAnnouncement', () => {
  it('answers the whole record, once for one key', async () => {
    const input = { until: soon(60), url: 'https://demo.example/', idempotencyKey: 'a' }
    const first = await made('One', input)
    expect(first).toEqual({
      ...{ id: expect.any(String), title: 'One', body: 'Read this.', severity: 'INFO', audience: 'ORGANIZATION', from: graph.clock.now().toISOString() },
      ...{ until: input.until, url: input.url, dismissed: false, createdBy: { id: owner.userId }, version: 1 },
    })
    expect((await made('One', input)).id).toBe(first.id)
    expect(await titles(member)).toEqual(['One'])
  })

  it('is refused to members, and for the platform to everybody who does not look after it', async () => {
    ;(await change(member, 'createAnnouncement', { title: 'x', body: 'x' })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await change(owner, 'createAnnouncement', { title: 'x', body: 'x', audience: 'PLATFORM' })).refused('FORBIDDEN')
    ;(await change(administrator(), 'createAnnouncement', { title: 'x', body: 'x' })).refused('FORBIDDEN')
    expect(await titles(owner, '(all: true)')).toEqual([])
  })

  it.each([
    [() => ({ from: soon(60), until: soon(60) }), 'until'],
    [() => ({ from: soon(-60), until: soon(0) }), 'until'],
    [() => ({ title: 'x'.repeat(121) }), 'title'],
    [() => ({ body: 'x'.repeat(2_001) }), 'body'],
    [() => ({ body: ' ' }), 'body'],
    [() => ({ url: 'http://demo.example/' }), 'url'],
  ])('refuses a wrong field: %s', async (more, field) => {
    const answer = await change(owner, 'createAnnouncement', { title: 'x', body: 'x', ...more() })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  it('refuses the 101st that is not over', async () => {
    for (let at = 0; at < 100; at += 1) await made(`n${at}`, at === 0 ? { until: soon(1) } : {})
    expect((await change(owner, 'createAnnouncement', { title: 'x', body: 'x' })).refused('CONFLICT').extensions.reason).toBe('LIMIT')
    await graph.clock.advance(1_000)
    await made('one more')
  })
})

describe('updateAnnouncement', () => {
  it('changes what it mentions; what has begun does not begin later', async () => {
    const { id } = await made('One', { url: 'https://demo.example/' })
    const update = (input: object) => change(owner, 'updateAnnouncement', { id, ...input })
    expect((await update({ severity: 'WARNING', until: soon(60) })).data().updateAnnouncement).toMatchObject({
      ...{ title: 'One', severity: 'WARNING', until: soon(60), url: 'https://demo.example/', version: 2 },
    })
    expect((await update({ until: null, url: null })).data().updateAnnouncement).toMatchObject({ until: null, url: null, version: 3 })
    expect((await update({ from: soon(60) })).refused('BAD_USER_INPUT').extensions.field).toBe('from')
    expect((await update({ title: 'x', expectedVersion: 1 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    ;(await change(outsider, 'updateAnnouncement', { id, title: 'x' })).refused('NOT_FOUND')
    ;(await update({ until: soon(0), from: soon(-1) })).data()
    expect(await titles(member)).toEqual([])
    ;(await change(owner, 'deleteAnnouncement', { id })).data()
    ;(await update({ title: 'x' })).refused('NOT_FOUND')
    const actions = await graph.rows('select action from launcher.audit_entries where subject_id = $1 order by at, id', [id])
    expect(actions.map(({ action }) => action)).toEqual(['announcement.created', ...Array(3).fill('announcement.updated'), 'announcement.deleted'])
  })
})

describe('dismissAnnouncement', () => {
  it('takes an announcement out of one person’s list, repeatedly', async () => {
    const { id } = await made('One')
    for (const key of ['a', 'b']) {
      const answer = await change(member, 'dismissAnnouncement', { id, idempotencyKey: key })
      expect(answer.data().dismissAnnouncement).toMatchObject({ id, dismissed: true })
    }
    expect([await titles(member), await titles(viewer)]).toEqual([[], ['One']])
    ;(await change(outsider, 'dismissAnnouncement', { id })).refused('NOT_FOUND')
    const hidden = [await made('Managers', { audience: 'MANAGERS' }), await made('Later', { from: soon(60) })]
    for (const each of hidden) (await change(member, 'dismissAnnouncement', { id: each.id })).refused('NOT_FOUND')
  })
})

describe('announcementChanged', () => {
  it('sends begin and end within a second, and a change and a deletion at once', async () => {
    await using live = await listen(member)
    const { id } = await made('One', { from: soon(90), until: soon(3_600) })
    await graph.clock.run(89_000)
    expect(live.events).toEqual([])
    await graph.clock.run(2_000)
    expect((await live.next()).announcementChanged).toMatchObject({ id, title: 'One', version: 1 })
    await change(owner, 'updateAnnouncement', { id, title: 'Two' })
    expect((await live.next()).announcementChanged).toMatchObject({ id, title: 'Two', version: 2 })
    await change(owner, 'updateAnnouncement', { id, until: soon(30) })
    await live.next()
    await graph.clock.run(31_000)
    const over = (await live.next()).announcementChanged
    expect(Date.parse(over.until)).toBeLessThanOrEqual(graph.clock.now().getTime())
    const other = await made('Other')
    await live.next()
    await change(owner, 'deleteAnnouncement', { id: other.id })
    expect((await live.next()).announcementChanged).toMatchObject({ id: other.id, until: graph.clock.now().toISOString() })
    expect(live.events).toHaveLength(6)
  })

  it('sends nobody what they may not see', async () => {
    await using managers = await listen(owner)
    await using members = await listen(member)
    await using others = await listen(outsider)
    await using persons = await listen(alone(member))
    const secret = await made('Managers', { audience: 'MANAGERS' })
    const later = await made('Later', { from: soon(60) })
    expect([(await managers.next()).announcementChanged.id, (await managers.next()).announcementChanged.id]).toEqual([secret.id, later.id])
    const shown = await made('Everybody')
    expect((await members.next()).announcementChanged.id).toBe(shown.id)
    const platform = await made('Platform', { audience: 'PLATFORM' }, administrator())
    for (const live of [members, others, persons]) expect((await live.next()).announcementChanged.id).toBe(platform.id)
    expect([members.events.length, others.events.length, persons.events.length]).toEqual([2, 1, 1])
    await change(administrator(), 'deleteAnnouncement', { id: platform.id })
  })

  it('leaves no listener behind', async () => {
    const before = graph.listeners()
    const live = await listen(owner)
    expect(graph.listeners()).toBeGreaterThan(before)
    await live.end()
    expect(graph.listeners()).toBe(before)
  })
})
