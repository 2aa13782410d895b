import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { modelOf } from '../../../platform/sql/table.ts'
import { unbounded } from '../../kit/reading.ts'
import { person, personally } from '../../kit/viewers.ts'
import { books, type Library, openLibrary, shelves } from './stage.ts'

const [acme, other, ada, ben] = [newId(), newId(), newId(), newId()]
const viewer = person(ada, acme, [])
const stranger = person(ben, other, [])

let library: Library
beforeAll(async () => {
  library = await openLibrary()
})
afterAll(() => library[Symbol.asyncDispose]())
beforeEach(() => library.empty())

const stamps = () => ({ createdAt: library.clock.now(), updatedAt: library.clock.now(), createdBy: 'user:x' })
const transaction = <Result>(work: (transaction: never) => Promise<Result>) => library.database.sequelize.transaction(transaction => work(transaction as never))

const shelf = (name: string, organizationId = acme) => transaction(tx => library.job.shelves.insert({ organizationId, id: newId(), name, ...stamps() }, tx))
const book = (shelfId: string, title: string, place = 1) => transaction(tx => library.job.books.insert({ shelfId, id: newId(), title, place, ...stamps() }, tx))

test('a row that is written is handed back whole, with what nothing was given for, and is read back the same', async () => {
  const made = await shelf('Poems')
  expect(made).toEqual({
    organizationId: acme,
    id: made.id,
    name: 'Poems',
    kind: 'OPEN',
    size: 3,
    isTall: false,
    labels: [],
    facts: null,
    closedAt: null,
    version: 1,
    ...stamps(),
  })
  expect(await library.job.shelves.byId.load(made.id)).toEqual(made)
  const facts = { of: ['a', 1] }
  const changes = { kind: 'SHUT', size: 7, isTall: true, labels: ['a', 'b'], facts, closedAt: library.clock.in(1) } as const
  const changed = await transaction(tx => library.job.shelves.update(made, changes, tx))
  expect(changed).toEqual({ ...made, ...changes })
  expect(await library.open(viewer).shelves.byId.load(made.id)).toEqual(changed)
})

test('a table has one model on a database, and one of its own on another', async () => {
  const { sequelize } = library.database
  expect(modelOf(sequelize, shelves)).toBe(modelOf(sequelize, shelves))
  expect(modelOf(sequelize, books)).not.toBe(modelOf(sequelize, shelves))
  await using another = await openLibrary()
  expect(modelOf(another.database.sequelize, shelves)).not.toBe(modelOf(sequelize, shelves))
})

test('a change and a removal concern the one row', async () => {
  const [one, two] = [await shelf('One'), await shelf('Two')]
  await transaction(tx => library.job.shelves.update(one, { name: 'Changed' }, tx))
  expect(await library.rows('select name from story.shelves order by name')).toEqual([{ name: 'Changed' }, { name: 'Two' }])
  await transaction(tx => library.job.shelves.remove(two, tx))
  expect(await library.rows('select name from story.shelves')).toEqual([{ name: 'Changed' }])
})

test('what an operation has read is remembered, until it has written it; a job reads everything anew', async () => {
  const { id } = await shelf('Before')
  const context = library.open(viewer)
  const found = await context.shelves.byId.load(id)
  expect(await library.job.shelves.byId.load(id)).toMatchObject({ name: 'Before' })
  await library.rows(`update story.shelves set name = 'Elsewhere'`)
  expect(await context.shelves.byId.load(id)).toBe(found)
  expect(await library.job.shelves.byId.load(id)).toMatchObject({ name: 'Elsewhere' })
  await transaction(async tx => {
    await context.shelves.update(found!, { size: 9 }, tx)
    expect(await context.shelves.byId.load(id), 'not before the commit').toBe(found)
  })
  expect(await context.shelves.byId.load(id)).toMatchObject({ name: 'Elsewhere', size: 9 })
  await transaction(tx => context.shelves.remove(found!, tx))
  expect(await context.shelves.byId.load(id)).toBe(null)
  await transaction(tx => context.shelves.insert({ ...found!, name: 'Again' }, tx))
  expect(await context.shelves.byId.load(id)).toMatchObject({ name: 'Again' })
})

test('what is asked for in one turn is read by one statement, each answered its own, whatever is missing', async () => {
  const [one, two] = [await shelf('One'), await shelf('Two')]
  const theirs = await shelf('Theirs', other)
  const { shelves } = library.open(viewer)
  const missing = newId()
  let found: unknown
  const statements = await library.statements(async () => {
    found = await Promise.all([two.id, missing, one.id, theirs.id, two.id].map(id => shelves.byId.load(id)))
  })
  expect(statements).toHaveLength(1)
  expect(found).toMatchObject([{ name: 'Two' }, null, { name: 'One' }, null, { name: 'Two' }])
  expect(await shelves.byId.load(newId())).toBe(null)
  expect(await shelves.find(one.id)).toMatchObject({ name: 'One' })
  expect(await shelves.find(null)).toBe(null)
})

test('returns a required row, or refuses it by the name of the argument', async () => {
  const { id } = await shelf('One')
  const { shelves } = library.open(viewer)
  expect(await shelves.require(id.toUpperCase())).toMatchObject({ name: 'One' })
  await expect(shelves.require('seven')).rejects.toMatchObject({ extensions: { code: 'BAD_USER_INPUT', field: 'id' } })
  await expect(shelves.require('seven', 'shelfId')).rejects.toMatchObject({ extensions: { field: 'shelfId' } })
  const gone = newId()
  const refused = { message: `The active organization has no shelf ${gone}.`, extensions: { code: 'NOT_FOUND', id: gone } }
  await expect(shelves.require(gone)).rejects.toMatchObject(refused)
  await expect(library.open(stranger).shelves.require(id)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND', id } })
  expect(shelves.what).toBe('shelf')
})

test('rows below their parents are read together, in the order of the noun', async () => {
  const [one, two] = [await shelf('One'), await shelf('Two')]
  for (const [place, title] of ['first', 'second', 'third'].entries()) await book(one.id, title, place)
  await book(two.id, 'alone')
  const { books } = library.open(viewer)
  let found: unknown
  const statements = await library.statements(async () => {
    found = await Promise.all([two.id, newId(), one.id].map(id => books.manyBy('shelfId').load(id)))
  })
  expect(statements).toHaveLength(1)
  expect((found as { title: string }[][]).map(each => each.map(({ title }) => title))).toEqual([['alone'], [], ['third', 'second', 'first']])
  await book(one.id, 'later')
  expect(await books.manyBy('shelfId').load(one.id), 'as this operation knows them').toHaveLength(3)
  expect(await library.job.books.manyBy('shelfId').load(one.id)).toHaveLength(4)
})

test('a condition with alternatives counts as one: rows outside the request are never returned', async () => {
  const write = (readerId: string, organizationId: string) =>
    transaction(tx => library.job.letters.insert({ id: newId(), readerId, organizationId, ...stamps() }, tx))
  const [mine, ours, theirs] = [await write(ada, other), await write(ben, acme), await write(ben, other)]
  const { post } = library.open(viewer)
  expect(await post.byId.load(theirs.id)).toBe(null)
  expect(await transaction(tx => post.lock(theirs.id, tx))).toBe(null)
  for (const { id } of [mine, ours]) expect([await post.byId.load(id), await transaction(tx => post.lock(id, tx))]).toMatchObject([{ id }, { id }])
})

test('a row is the viewer’s by its column, through its parent, by a condition, or everybody’s; to a job all are there', async () => {
  const mine = await shelf('Mine')
  const inside = await book(mine.id, 'Inside')
  const write = async (readerId: string, organizationId: string) =>
    transaction(tx => library.job.letters.insert({ id: newId(), readerId, organizationId, ...stamps() }, tx))
  const [letter, elsewhere] = [await write(ada, acme), await write(ada, other)]
  const rule = await transaction(tx => library.job.rules.insert({ id: newId(), ...stamps() }, tx))
  const seen = async (context: ReturnType<Library['open']> | Library['job']) => {
    const found = [
      await context.shelves.byId.load(mine.id),
      await context.books.byId.load(inside.id),
      await context.letters.byId.load(letter.id),
      await context.letters.byId.load(elsewhere.id),
      await context.rules.byId.load(rule.id),
    ]
    const locked = await transaction(async tx => [
      await context.shelves.lock(mine.id, tx),
      await context.books.lock(inside.id, tx),
      await context.letters.lock(letter.id, tx),
      await context.letters.lock(elsewhere.id, tx),
      await context.rules.lock(rule.id, tx),
    ])
    expect(locked).toEqual(found)
    return found.map(row => row !== null)
  }
  expect(await seen(library.open(viewer))).toEqual([true, true, true, false, true])
  expect(await seen(library.open(person(ben, acme, [])))).toEqual([true, true, false, false, true])
  expect(await seen(library.open(person(ada, other, [])))).toEqual([false, false, false, true, true])
  expect(await seen(library.open(personally(viewer)))).toEqual([false, false, false, false, true])
  expect(await seen(library.job)).toEqual([true, true, true, true, true])
  const below = [library.open(viewer), library.open(stranger), library.job].map(async ({ books }) => (await books.manyBy('shelfId').load(mine.id)).length)
  expect(await Promise.all(below)).toEqual([1, 0, 1])
})

test('a lock is held against changes, and read past by others', async () => {
  const { id } = await shelf('Held')
  await transaction(async tx => {
    await library.job.shelves.lock(id, tx)
    expect(await library.rows('select name from story.shelves for update skip locked')).toEqual([])
    expect(await library.rows('select name from story.shelves for key share')).toEqual([{ name: 'Held' }])
  })
})

test('statements of the noun’s own stand beside the others, and services beside the stores', async () => {
  const { id } = await shelf('Named')
  const context = library.open(viewer)
  expect(await context.shelves.named('Named')).toEqual([{ id }])
  expect([context.house, context.viewer, context.requestId, context.browser]).toEqual(['the library', viewer, 'request-1', undefined])
  expect([library.job.house, context.shelves, library.open(viewer).shelves === context.shelves]).toEqual(['the library', context.shelves, false])
})

test('what is asked by a browser knows it; a job is asked by nobody', async () => {
  const browser = { secretHash: 'h' } as never
  expect(library.contexts.open(viewer, { ...unbounded, requestId: 'request-2', browser })).toMatchObject({ requestId: 'request-2', browser })
  const job = library.job as unknown as ReturnType<Library['open']>
  expect([job.viewer, job.requestId, job.browser]).toEqual([null, undefined, undefined])
})

test('counts rows as they arrive and does not start once nobody waits; in a transaction the writer sets the limit', async () => {
  const { id } = await shelf('Poems')
  await book(id, 'A title')
  await book(id, 'Another title')
  const read: number[] = []
  const leaving = new AbortController()
  const { shelves, books } = library.open(viewer, { read: characters => void read.push(characters), signal: leaving.signal })
  const told = async (work: () => Promise<unknown>) => {
    read.length = 0
    await work()
    return [...read]
  }
  const [aShelf] = await told(() => shelves.byId.load(id))
  // Its organization, id, name, kind and author, and whatever else stands in it.
  expect(aShelf).toBeGreaterThan(36 + 36 + 5 + 4 + 6)
  expect(await told(() => shelves.byId.load(newId()))).toEqual([])
  expect(await told(() => books.manyBy('shelfId').load(id))).toEqual([expect.any(Number), expect.any(Number)])
  expect(await told(() => shelves.page('all', acme, {}))).toEqual([aShelf])
  expect(await told(() => transaction(open => shelves.lock(id, open)))).toEqual([])
  leaving.abort(new Error('gone'))
  const statements = await library.statements(() => expect(books.byId.load(newId())).rejects.toThrow('gone'))
  expect(statements).toEqual([])
})

test('every statement has its turn among those of the operation', async () => {
  const [one, two] = [await shelf('One'), await shelf('Two')]
  let turns = 0
  const context = library.open(viewer, {
    statement(run) {
      turns += 1
      return run()
    },
  })
  await Promise.all([context.shelves.byId.load(one.id), context.shelves.byId.load(two.id), context.books.manyBy('shelfId').load(one.id)])
  expect(turns).toBe(2)
})
