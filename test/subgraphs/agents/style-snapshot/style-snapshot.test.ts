import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { createPersonProfile, createProfileSource, createStyleSnapshot, personProfile, wholeProfile } from '../documents.ts'
import { seedProfile } from '../person-profile/seed.ts'

const newProfile = async (graph: Supergraph, as: Viewer) =>
  (await graph.execute(createPersonProfile, { input: { displayName: 'A voice', writingStyle: { tone: 'dry' } } }, { as })).data().createPersonProfile
    .id as string
const add = async (graph: Supergraph, as: Viewer, personProfileId: string, text: string) => {
  await graph.clock.advance(1000)
  const input = { personProfileId, kind: 'INTERVIEW', title: 'A talk', text }
  return (await graph.execute(createProfileSource, { input }, { as })).data().createProfileSource.id as string
}
const take = async (graph: Supergraph, as: Viewer, personProfileId: string, more: object = {}) =>
  (await graph.execute(createStyleSnapshot, { input: { personProfileId, ...more } }, { as })).data().createStyleSnapshot

describe('A-05 a snapshot is taken', () => {
  test('of all READY sources with their exact measures, becomes the active one, and is on record', async () => {
    await using graph = await supergraph()
    const { member, organization } = await graph.seed.owner().member()
    const id = await newProfile(graph, member)
    const sources = [
      await add(graph, member, id, 'One two three. Four five six seven? Eight nine ten!'),
      await add(graph, member, id, "It's a well-made test. It's a test."),
    ]
    const taken = await take(graph, member, id)
    expect(taken).toMatchObject({
      profile: { id },
      number: 1,
      active: true,
      justTaken: true,
      writingStyle: { tone: 'dry', vocabulary: [] },
      measures: { words: 17, sentences: 5, wordsPerSentence: 3.4, questionShare: 0.2, exclamationShare: 0.2, typeTokenRatio: 0.82 },
      summary: null,
      model: null,
      createdBy: { id: member.userId },
    })
    expect(taken.sources.map((source: { id: string }) => source.id)).toEqual(sources)
    const { personProfile: profile } = (await graph.execute(personProfile, { id }, { as: member })).data()
    expect(profile).toMatchObject({ activeSnapshot: { id: taken.id }, version: 1 })
    expect(await graph.rows(`select tenant_id, subject_id, details from agents.audit_entries where action = 'style-snapshot.created'`)).toEqual([
      { tenant_id: organization.id, subject_id: taken.id, details: { profileId: id, number: 1 } },
    ])
  })

  test('again only when there is something new: another source, or others that are named', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    const first = await add(graph, owner, id, 'One.')
    const taken = await take(graph, owner, id)
    expect(await take(graph, owner, id)).toMatchObject({ id: taken.id, number: 1, justTaken: false })
    const second = await add(graph, owner, id, 'Two words.')
    const next = await take(graph, owner, id)
    expect(next).toMatchObject({ number: 2, active: true, justTaken: true, measures: { words: 3 } })
    expect(await take(graph, owner, id, { sourceIds: [second, first] })).toMatchObject({ id: next.id, justTaken: false })
    await graph.clock.advance(1000)
    expect(await take(graph, owner, id, { sourceIds: [first] })).toMatchObject({ number: 3, sources: [{ id: first, text: 'One.' }] })
    const { snapshots } = (await graph.execute(wholeProfile, { id }, { as: owner })).data().personProfile
    expect(snapshots.nodes.map(({ number, active }: { number: number; active: boolean }) => [number, active])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ])
    expect((await graph.execute(personProfile, { id }, { as: owner })).data().personProfile.version).toBe(1)
  })

  test('with consecutive numbers, however many are taken at once, and the same one when nothing differs', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    const sources: string[] = []
    for (let count = 0; count < 6; count += 1) sources.push(await add(graph, owner, id, `Text ${count}.`))
    const taken = await Promise.all(sources.map(source => take(graph, owner, id, { sourceIds: [source] })))
    expect(taken.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5, 6])
    const same = await Promise.all(Array.from({ length: 6 }, () => take(graph, owner, id)))
    expect([new Set(same.map(({ number }) => number)), same.filter(({ justTaken }) => justTaken).length]).toEqual([new Set([7]), 1])
  })

  test('reads texts before it locks anything, so that nobody waits for the measuring', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    for (let count = 0; count < 11; count += 1) await add(graph, owner, id, `Text ${count}.`)
    const statements = await graph.statements(() => take(graph, owner, id))
    const measured = statements.findLastIndex(text => /^select t\.text from agents\.profile_texts/.test(text))
    const locked = statements.findIndex(text => /from agents\.person_profiles t .* for no key update/s.test(text))
    expect([measured >= 0, locked > measured]).toEqual([true, true])
    expect(statements.slice(measured, locked).some(text => /^(START TRANSACTION|BEGIN)/i.test(text))).toBe(true)
  })

  test('again when another one was taken at the last moment', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    await add(graph, owner, id, 'One.')
    await take(graph, owner, id)
    const waiting = await graph.database.sequelize.transaction(async transaction => {
      const run = (sql: string) => graph.database.sequelize.query(sql, { bind: [id], transaction })
      await run('select from agents.person_profiles where id = $1 for update')
      const taking = take(graph, owner, id)
      await expect.poll(async () => (await graph.rows(`select from pg_locks where not granted`)).length).toBe(1)
      await run(
        `insert into agents.style_snapshots (profile_id, id, number, source_ids, writing_style, speaking_style, measures, digest, created_at, updated_at, created_by)
         select profile_id, gen_random_uuid(), 2, source_ids, writing_style, speaking_style, measures, 'another', created_at, updated_at, created_by
           from agents.style_snapshots where profile_id = $1`,
      )
      return { taking }
    })
    expect(await waiting.taking).toMatchObject({ number: 3, justTaken: true, measures: { words: 1 } })
  })

  test('once under one key, which then returns that one whatever was taken since', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    await add(graph, owner, id, 'One.')
    const taken = await Promise.all(Array.from({ length: 5 }, () => take(graph, owner, id, { idempotencyKey: 'k' })))
    expect(new Set(taken.map(each => each.id)).size).toBe(1)
    expect(await take(graph, owner, id, { idempotencyKey: 'same' })).toMatchObject({ id: taken[0].id })
    await add(graph, owner, id, 'Two.')
    expect((await take(graph, owner, id)).number).toBe(2)
    for (const idempotencyKey of ['k', 'same']) expect(await take(graph, owner, id, { idempotencyKey })).toMatchObject({ id: taken[0].id, justTaken: false })
    const other = await graph.execute(createStyleSnapshot, { input: { personProfileId: id, sourceIds: [], idempotencyKey: 'k' } }, { as: owner })
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  test('that is the newest already is the active one again, should another be', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    await add(graph, owner, id, 'One.')
    const older = await take(graph, owner, id)
    await add(graph, owner, id, 'Two.')
    const newest = await take(graph, owner, id)
    await graph.rows('update agents.person_profiles set active_snapshot_id = $1 where id = $2', [older.id, id])
    expect(await take(graph, owner, id)).toMatchObject({ id: newest.id, active: true, justTaken: false })
  })

  test('until the profile has a thousand; the newest is answered all the same', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    await add(graph, owner, id, 'One.')
    const first = await take(graph, owner, id)
    await graph.rows('update agents.style_snapshots set number = 999 where id = $1', [first.id])
    await add(graph, owner, id, 'Two.')
    expect(await take(graph, owner, id)).toMatchObject({ number: 1000, justTaken: true })
    expect(await take(graph, owner, id)).toMatchObject({ number: 1000, justTaken: false })
    await add(graph, owner, id, 'Three.')
    const oneMore = await graph.execute(createStyleSnapshot, { input: { personProfileId: id } }, { as: owner })
    expect(oneMore.refused('CONFLICT').extensions.reason).toBe('QUOTA')
  })

  test('never without a READY source, of one that is none, or of another profile’s; then the profile stays as it is', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const id = await newProfile(graph, owner)
    const { sourceId } = await seedProfile(graph, { organizationId: organization.id, subjectId: owner.userId! })
    const refusedOf = (more: object) => graph.execute(createStyleSnapshot, { input: { personProfileId: id, ...more } }, { as: owner })
    for (const more of [{}, { sourceIds: [] }, { idempotencyKey: 'k' }])
      expect((await refusedOf(more)).refused('CONFLICT').extensions.reason).toBe('NO_SOURCES')
    const own = await add(graph, owner, id, 'One.')
    for (const strange of [sourceId, newId(), 'nonsense'])
      expect((await refusedOf({ sourceIds: [own, strange] })).refused('BAD_USER_INPUT').extensions.field).toBe('sourceIds[1]')
    expect((await graph.execute(personProfile, { id }, { as: owner })).data().personProfile).toMatchObject({ activeSnapshot: null, version: 1 })
    // A key that was refused has made nothing, so it may be used.
    expect(await take(graph, owner, id, { idempotencyKey: 'k' })).toMatchObject({ number: 1 })
  })
})

test('of more text than one snapshot measures nothing is taken, and of fewer sources it is', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const id = await newProfile(graph, owner)
  const small = await add(graph, owner, id, 'Small.')
  const large = await add(graph, owner, id, 'Large.')
  await graph.rows(`update agents.profile_texts set text = repeat('a ', 5000000) where source_id = $1`, [large])
  const whole = await graph.execute(createStyleSnapshot, { input: { personProfileId: id } }, { as: owner })
  expect(whole.refused('CONFLICT').extensions.reason).toBe('QUOTA')
  expect((await take(graph, owner, id, { sourceIds: [small] })).measures.words).toBe(1)
})

test('of many that are taken at once the texts are looked through one after another: others find a connection', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const { id } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
  const held = await graph.database.sequelize.transaction(async transaction => {
    await graph.database.sequelize.query('lock table agents.profile_texts in access exclusive mode', { transaction })
    const taking = Array.from({ length: 6 }, () => take(graph, owner, id))
    const waiting = () => graph.rows(`select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`)
    await expect.poll(async () => (await waiting()).length).toBe(1)
    // Whoever comes later has had the time to wait as well.
    for (let count = 0; count < 5; count += 1) expect(await waiting()).toHaveLength(1)
    return { taking }
  })
  expect(new Set((await Promise.all(held.taking)).map(({ number }) => number))).toEqual(new Set([1]))
})

test('nothing is measured any more once nobody waits for it', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const { id, sourceId } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
  const reading = { signal: AbortSignal.abort(new Error('gone')), read() {}, statement: (run: () => unknown) => run() }
  const { profileSources } = graph.platform.agents.open(owner, { requestId: 'r', ...reading } as never)
  await expect(profileSources.textsOf(id, [sourceId])).rejects.toThrow('gone')
  await expect(profileSources.readyOf(id, null)).rejects.toThrow('gone')
})

test('as many snapshots as one may take in a day are taken, and no more that are new', async () => {
  await using graph = await supergraph({ quotas: { snapshotsADay: 1 } })
  const { owner } = await graph.seed.owner()
  const id = await newProfile(graph, owner)
  await add(graph, owner, id, 'One.')
  const taken = await take(graph, owner, id)
  expect(await take(graph, owner, id)).toMatchObject({ id: taken.id })
  await add(graph, owner, id, 'Two.')
  const another = await graph.execute(createStyleSnapshot, { input: { personProfileId: id } }, { as: owner })
  expect(another.refused('RATE_LIMITED').message).toMatch('snapshots that you took')
})

test('REST tells a new snapshot, 201, from the one that was there, 200', async () => {
  await using graph = await supergraph({ now: new Date().toISOString() })
  await using door = await openDoor(graph)
  await graph.platform.identity.provision({
    password: 'correct horse battery',
    people: [{ email: 'owner@test.test', name: 'owner' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [],
  })
  const headers = await door.signIn('owner@test.test', 'correct horse battery')
  const at = `/agents/api/person-profiles/${(await door.ask('POST', '/agents/api/person-profiles', { headers, body: { displayName: 'A voice' } })).json.id}`
  const source = await door.ask('POST', `${at}/sources`, { headers, body: { kind: 'transcript', title: 'T', text: 'Said once. Said twice.' } })
  const first = await door.ask('POST', `${at}/style`, { headers, body: {} })
  const again = await door.ask('POST', `${at}/style`, { headers, body: {} })
  expect([first.status, again.status, again.json.id]).toEqual([201, 200, first.json.id])
  expect(first.json).not.toHaveProperty('justTaken')
  expect((await door.ask('GET', `${at}/style`, { headers })).json).toMatchObject({
    active: { id: first.json.id, sourceIds: [source.json.id], number: 1 },
    snapshots: [{ id: first.json.id, personProfileId: at.split('/').at(-1) }],
    nextCursor: null,
    totalCount: 1,
  })
  const one = await door.ask('GET', at, { headers })
  expect([one.headers.etag, one.json.activeSnapshotId]).toEqual([expect.stringMatching(/^"1-/), first.json.id])
  // Whoever has read it before the snapshot may still change it, and reads it anew.
  expect((await door.ask('GET', at, { headers: { ...headers, 'if-none-match': '"1"' } })).status).toBe(200)
  expect((await door.ask('PUT', at, { headers: { ...headers, 'if-match': '"1"' }, body: { displayName: 'Another voice' } })).status).toBe(200)
})
