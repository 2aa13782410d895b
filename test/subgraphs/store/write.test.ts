import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { doFor, organization } from '../../../platform/caller/cause.ts'
import { newId } from '../../../platform/ids.ts'
import { retention } from '../../../platform/jobs/retention.ts'
import { agingOfKeys } from '../../../subgraphs/store/books.ts'
import { contextsOf } from '../../../subgraphs/store/context.ts'
import { change, checkVersion, create, inTransaction, remove, write } from '../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'
import { person } from '../../kit/viewers.ts'
import { type Library, openLibrary } from './stage.ts'

const [acme, other, ada, ben] = [newId(), newId(), newId(), newId()]
const [viewer, colleague, stranger] = [person(ada, acme, []), person(ben, acme, []), person(ben, other, [])]

let library: Library
let personal: Library
beforeAll(async () => {
  ;[library, personal] = await Promise.all([openLibrary(), openLibrary('caller')])
})
afterAll(() => Promise.all([library, personal].map(each => each[Symbol.asyncDispose]())))
beforeEach(() => Promise.all([library.empty(), personal.empty()]))

/** Makes a shelf as a resolver does, and notes what follows. */
function make(as: Viewer, { name = 'Poems', key = 'k' as string | null, on = library, followed = [] as unknown[], what = {} } = {}) {
  const context = on.open(as)
  const organizationId = as.organizationId!
  return create(context, {
    of: context.shelves,
    once: { idempotencyKey: key, ...{ name }, ...what },
    tenantId: organizationId,
    run: ({ now }, id) => ({ organizationId, id, name, createdAt: now, updatedAt: now, createdBy: `user:${as.userId}` }),
    audit: ({ id }) => ({ tenantId: organizationId, action: 'shelf.made', subjectId: id }),
    wake: async ({ id }) => void followed.push(['wake', id]),
    announce: ({ id }) => void followed.push(['announce', id]),
  })
}
const shelves = (on = library) => on.rows<{ name: string }>('select name from story.shelves order by created_at, name')
const record = () => library.rows('select tenant_id, actor, action, subject_id, details, at from story.audit_entries order by at, id')

test('what is made is there with its record, and what follows comes after it, once for each key', async () => {
  const followed: unknown[] = []
  const first = await make(viewer, { followed })
  expect(first).toMatchObject({ repeated: false, row: { name: 'Poems', organizationId: acme } })
  const { id } = first.row
  const followings = [
    ['wake', id],
    ['announce', id],
  ]
  const line = { tenant_id: acme, actor: `user:${ada}`, action: 'shelf.made', subject_id: id, details: {}, at: library.clock.now() }
  expect([followed, await record()]).toEqual([followings, [line]])
  expect(await make(viewer, { followed })).toEqual({ repeated: true, row: first.row })
  expect([followed, await record(), await shelves()]).toEqual([followings, [line], [{ name: 'Poems' }]])
  expect(await make(viewer, { key: 'another' })).toMatchObject({ repeated: false })
  for (const _ of [1, 2]) expect(await make(viewer, { key: null })).toMatchObject({ repeated: false })
  expect(await shelves()).toHaveLength(4)
  await expect(make(viewer, { key: '' })).rejects.toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field: 'idempotencyKey' } })
})

test('an organization’s key is known to all of it and to nobody else, and is refused with another content', async () => {
  const { row } = await make(viewer)
  expect(await make(colleague)).toEqual({ repeated: true, row })
  expect(await make(stranger)).toMatchObject({ repeated: false, row: { organizationId: other } })
  const reused = { extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } }
  await expect(make(colleague, { name: 'Other' })).rejects.toMatchObject(reused)
  await expect(make(viewer, { what: { size: 1 } })).rejects.toMatchObject(reused)
  expect(await shelves()).toHaveLength(2)
})

test('a person’s key is known wherever they are, and to nobody else', async () => {
  const on = personal
  const { row } = await make(colleague, { on })
  expect(await make(colleague, { on })).toEqual({ repeated: true, row })
  await expect(make(stranger, { on })).rejects.toMatchObject({ extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } })
  expect(await make(viewer, { on })).toMatchObject({ repeated: false })
  expect(await shelves(on)).toHaveLength(2)
})

test('a key counts for one kind of thing', async () => {
  await make(viewer)
  const context = library.open(viewer)
  const now = library.clock.now()
  const made = await create(context, {
    of: context.rules,
    once: { idempotencyKey: 'k' },
    tenantId: acme,
    run: (_, id) => ({ id, createdAt: now, updatedAt: now, createdBy: 'user:x' }),
  })
  expect(made.repeated).toBe(false)
})

test('a key is answered with its row as it stands now, makes nothing again when that is gone, and is forgotten after a week', async () => {
  const { row } = await make(viewer)
  const context = library.open(viewer)
  const changed = await change(context, { of: context.shelves, id: row.id, decide: () => ({ name: 'Changed' }) })
  expect((await make(viewer)).row).toEqual(changed)
  await remove(context, { of: context.shelves, id: row.id })
  const gone = { extensions: { code: 'NOT_FOUND', field: 'idempotencyKey' } }
  await expect(make(viewer)).rejects.toMatchObject(gone)
  await expect(make(viewer, { name: 'Other' })).rejects.toMatchObject({ extensions: { code: 'CONFLICT' } })
  const sweep = retention({ sequelize: library.database.sequelize, clock: library.clock }, [agingOfKeys('story')])
  await library.clock.advance(7 * 86_400_000)
  await sweep.run()
  await expect(make(viewer)).rejects.toMatchObject(gone)
  await library.clock.advance(1)
  await sweep.run()
  expect(await make(viewer)).toMatchObject({ repeated: false })
})

test('a change raises the version, sets its moment, and is recorded with what it was and is', async () => {
  const { row } = await make(viewer)
  await library.clock.advance(1000)
  const context = library.open(colleague)
  const followed: unknown[] = []
  const changed = await change(context, {
    of: context.shelves,
    id: row.id.toUpperCase(),
    expectedVersion: 1,
    before: async () => void followed.push('before'),
    decide: ({ name, size }, { now }) => ({ name, size: size + 1, closedAt: now }),
    also: { isTall: true },
    audit: ({ before, after }) => ({
      tenantId: acme,
      action: 'shelf.changed',
      subjectId: after.id,
      actor: 'platform',
      details: { from: before.size, to: after.size },
    }),
    wake: async ({ after }, { now }) => void followed.push(['wake', after.version, now]),
    announce: ({ before, after }) => void followed.push(['announce', before.version, after.version]),
  })
  const now = library.clock.now()
  expect(changed).toEqual({ ...row, size: 4, closedAt: now, isTall: true, version: 2, updatedAt: now })
  expect(await library.job.shelves.byId.load(row.id)).toEqual(changed)
  expect(followed).toEqual(['before', ['wake', 2, now], ['announce', 1, 2]])
  expect((await record())[1]).toEqual({ tenant_id: acme, actor: 'platform', action: 'shelf.changed', subject_id: row.id, details: { from: 3, to: 4 }, at: now })
})

test('a change that changes nothing is not written, and nothing follows', async () => {
  const { row } = await make(viewer)
  const context = library.open(viewer)
  const followed: unknown[] = []
  const same = await change(context, {
    of: context.shelves,
    id: row.id,
    decide: () => ({ name: row.name, labels: [], createdAt: new Date(row.createdAt) }),
    also: { isTall: true },
    audit: () => ({ tenantId: acme, action: 'shelf.changed', subjectId: row.id }),
    wake: async () => void followed.push('wake'),
    announce: () => void followed.push('announce'),
  })
  expect([same, await library.job.shelves.byId.load(row.id), followed, (await record()).length]).toEqual([row, row, [], 1])
})

test('what is no id, what is not there, and what somebody has changed since is refused, and nothing is written', async () => {
  const { row } = await make(viewer)
  const context = library.open(viewer)
  for (const act of [
    (id: string, expectedVersion?: number) => change(context, { of: context.shelves, id, expectedVersion, decide: () => ({ name: 'Changed' }) }),
    (id: string, expectedVersion?: number) => remove(context, { of: context.shelves, id, expectedVersion }),
  ]) {
    await expect(act('seven')).rejects.toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field: 'id' } })
    const gone = newId()
    await expect(act(gone)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND', id: gone } })
    await expect(act(row.id, 2)).rejects.toMatchObject({ extensions: { code: 'CONFLICT', reason: 'STALE_VERSION', version: 1 } })
  }
  const theirs = library.open(stranger)
  await expect(remove(theirs, { of: theirs.shelves, id: row.id })).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } })
  expect(await library.job.shelves.byId.load(row.id)).toEqual(row)
  for (const seen of [null, undefined, 3]) checkVersion(3, seen, 'shelf')
  expect(() => checkVersion(3, 0, 'shelf')).toThrow('at version 3, not 0')
})

test('a removal asks its rule, takes what goes with it, and is followed like a change', async () => {
  const { row } = await make(viewer)
  const context = library.open(viewer)
  const followed: unknown[] = []
  const act = (decide: (name: string) => void) =>
    remove(context, {
      of: context.shelves,
      id: row.id.toUpperCase(),
      expectedVersion: 1,
      before: async () => void followed.push('before'),
      decide: ({ name }) => decide(name),
      audit: ({ id }) => ({ tenantId: acme, action: 'shelf.removed', subjectId: id }),
      announce: ({ name }) => void followed.push(name),
    })
  await expect(
    act(() => {
      throw new Error('books stand on it')
    }),
  ).rejects.toThrow('books')
  expect([await shelves(), followed]).toEqual([[{ name: 'Poems' }], ['before']])
  expect(await act(() => {})).toEqual(row)
  expect([await shelves(), followed]).toEqual([[], ['before', 'before', 'Poems']])
  expect((await record()).map(line => (line as { action: string }).action).sort()).toEqual(['shelf.made', 'shelf.removed'])
})

test('what is written together is there together, and what follows comes when something happened', async () => {
  const followed: unknown[] = []
  const following = {
    audit: (name: string) => (name === 'unrecorded' ? null : { tenantId: acme, action: 'shelf.told', subjectId: acme, details: { name } }),
    announce: (name: string) => void followed.push(name),
  }
  expect(await write(library.job, { run: async () => 'done', ...following })).toBe('done')
  expect(await write(library.job, { run: async () => 'unrecorded', ...following })).toBe('unrecorded')
  expect(await write(library.job, { run: async () => null as string | null, ...following })).toBe(null)
  expect(await inTransaction(library.job, async ({ now }) => now)).toEqual(library.clock.now())
  expect(followed).toEqual(['done', 'unrecorded'])
  expect(await record()).toMatchObject([{ actor: 'librarian', action: 'shelf.told', details: { name: 'done' } }])
})

test('a subgraph has no two things under one name', () => {
  const { sequelize } = library.database
  const facts = {} as Parameters<typeof contextsOf>[4]
  const open = (stores: object, services: object) => contextsOf('story', stores as never, services, { sequelize, clock: library.clock }, facts)
  expect(() => open({ shelves: {} }, { shelves: 1 })).toThrow('story has two things named shelves')
  for (const taken of ['viewer', 'requestId', 'browser', 'opened', 'operation', 'actor']) expect(() => open({}, { [taken]: 1 })).toThrow(taken)
})

describe('change with an idempotency key', () => {
  const grow = async (as: Viewer, id: string, { key = 'k', by = 1, followed = [] as unknown[] } = {}) => {
    const context = library.open(as)
    return change(context, {
      of: context.shelves,
      id,
      once: { what: 'growShelf', tenantId: as.organizationId!, input: { idempotencyKey: key, ...{ id, by } } },
      decide: ({ size }) => ({ size: size + by }),
      announce: () => void followed.push(id),
    })
  }

  it('changes once however often, and however many at once, it is sent', async () => {
    const { row } = await make(viewer)
    const followed: unknown[] = []
    const grown = await Promise.all(Array.from({ length: 10 }, (_, index) => grow(index % 2 ? viewer : colleague, row.id, { followed })))
    expect(grown.map(({ size, version }) => [size, version])).toEqual(Array(10).fill([4, 2]))
    expect(followed).toEqual([row.id])
    expect(await grow(viewer, row.id, { key: 'another' })).toMatchObject({ size: 5 })
    expect(await grow(viewer, row.id)).toMatchObject({ size: 5, version: 3 })
  })

  it('refuses the key with another input, and forgets it when the change is refused', async () => {
    const { row } = await make(viewer)
    await grow(viewer, row.id)
    await expect(grow(viewer, row.id, { by: 2 })).rejects.toMatchObject({ extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } })
    await expect(grow(viewer, newId(), { key: 'new' })).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } })
    expect(await grow(viewer, row.id, { key: 'new' })).toMatchObject({ size: 5 })
  })
})

describe('transactions of one organization', () => {
  /** Holds transactions of an organization, or of nobody, until the test lets go of them. */
  function hold(of: string | null, many: number) {
    const { promise: over, resolve: letGo } = Promise.withResolvers<void>()
    let begun = 0
    const held = Array.from({ length: many }, () =>
      doFor(of === null ? {} : { [organization]: of }, () =>
        inTransaction(library.job, async () => {
          begun += 1
          await over
        }),
      ),
    )
    const end = () => {
      letGo()
      return Promise.all(held)
    }
    return { begun: () => begun, end }
  }

  it('take half of the connections, and those of another are begun beside them', async () => {
    const [flood, slowPolling] = [hold(acme, 20), hold(other, 2)]
    await expect.poll(flood.begun).toBe(5)
    await expect.poll(slowPolling.begun).toBe(2)
    await slowPolling.end()
    expect(flood.begun()).toBe(5)
    await flood.end()
    expect(flood.begun()).toBe(20)
  })

  it('are not bounded for what the process does of its own accord', async () => {
    const own = hold(null, 10)
    await expect.poll(own.begun).toBe(10)
    await own.end()
  })
})
