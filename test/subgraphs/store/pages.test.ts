import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { person } from '../../kit/viewers.ts'
import { type Library, openLibrary } from './stage.ts'

const [acme, other] = [newId(), newId()]
const viewer = person(newId(), acme, [])
const stranger = person(newId(), other, [])

let library: Library
beforeAll(async () => {
  library = await openLibrary()
})
afterAll(() => library[Symbol.asyncDispose]())
beforeEach(() => library.empty())

async function shelf(name: string, { organizationId = acme, isClosed = false, id = newId() } = {}) {
  const now = library.clock.now()
  const row = { organizationId, id, name, closedAt: isClosed ? now : null, createdAt: now, updatedAt: now, createdBy: 'user:x' }
  return library.database.sequelize.transaction(transaction => library.job.shelves.insert(row, transaction))
}
async function book(shelfId: string, title: string) {
  const now = library.clock.now()
  const row = { shelfId, id: newId(now), title, place: 1, createdAt: now, updatedAt: now, createdBy: 'user:x' }
  return library.database.sequelize.transaction(transaction => library.job.books.insert(row, transaction))
}
const names = ({ nodes }: { readonly nodes: readonly { readonly name: string }[] }) => nodes.map(({ name }) => name)

test.each([
  ['all', ['A', 'B', 'C', 'D', 'E']],
  ['latest', ['E', 'D', 'C', 'B', 'A']],
] as const)('the list %s is read on page by page in its order, among rows of one moment by their ids', async (list, whole) => {
  const ids = [newId(), newId(), newId()].sort()
  await shelf('A')
  await library.clock.advance(1)
  // Out of their order, all at one moment.
  for (const at of [2, 0, 1]) await shelf('BCD'[at]!, { id: ids[at]! })
  await library.clock.advance(1)
  await shelf('E')
  await shelf('Theirs', { organizationId: other })
  const read: string[] = []
  let after: string | null = null
  const sizes: number[] = []
  for (;;) {
    const page = await library.open(viewer).shelves.page(list, acme, { first: 2, after })
    read.push(...names(page))
    sizes.push(page.nodes.length)
    expect([page.pageInfo.hasPreviousPage, await page.totalCount()]).toEqual([after !== null, 5])
    after = page.pageInfo.endCursor
    if (!page.pageInfo.hasNextPage) break
  }
  expect([read, sizes]).toEqual([whole, [2, 2, 1]])
})

test('a list may leave rows out, in its total too; to a job every organization’s are there', async () => {
  await shelf('Open')
  await library.clock.advance(1)
  await shelf('Closed', { isClosed: true })
  await shelf('Theirs', { organizationId: other, isClosed: true })
  const of = async ({ shelves }: Pick<Library['job'], 'shelves'>, list: 'all' | 'closed', organizationId: string) => {
    const page = await shelves.page(list, organizationId, {})
    return [names(page), await page.totalCount()]
  }
  expect(await of(library.open(viewer), 'closed', acme)).toEqual([['Closed'], 1])
  expect(await of(library.open(viewer), 'all', acme)).toEqual([['Open', 'Closed'], 2])
  for (const list of ['all', 'closed'] as const) {
    expect(await of(library.open(stranger), list, acme)).toEqual([[], 0])
    expect(await of(library.job, list, other)).toEqual([['Theirs'], 1])
  }
})

test('the same page below several parents is one statement, their totals another; other pages are others', async () => {
  const [one, two, bare] = [await shelf('One'), await shelf('Two'), await shelf('Bare')]
  for (const { id, name } of [one, two])
    for (const at of [1, 2, 3]) {
      await library.clock.advance(1)
      await book(id, `${name} ${at}`)
    }
  const { books } = library.open(viewer)
  let found: unknown[] = []
  const pages = () => Promise.all([one, two, bare, one].map(({ id }) => books.page('onShelf', id, { first: 2 })))
  const statements = await library.statements(async () => {
    const read = await pages()
    found = read.map(({ nodes, pageInfo }) => [nodes.map(({ title }) => title), pageInfo.hasNextPage])
  })
  expect(statements).toHaveLength(1)
  expect(found).toEqual([
    [['One 3', 'One 2'], true],
    [['Two 3', 'Two 2'], true],
    [[], false],
    [['One 3', 'One 2'], true],
  ])
  let totals: number[] = []
  const counting = await library.statements(async () => {
    totals = await Promise.all((await pages()).map(page => page.totalCount()))
  })
  expect([totals, counting.length, counting.filter(sql => sql.includes('count(*)')).length]).toEqual([[3, 3, 0, 3], 1, 1])
  const further = await library.statements(() => Promise.all([1, 3].map(first => books.page('onShelf', one.id, { first }))))
  expect(further).toHaveLength(2)
  const next = await books.page('onShelf', one.id, { first: 2, after: (await books.page('onShelf', one.id, { first: 2 })).pageInfo.endCursor })
  expect([next.nodes.map(({ title }) => title), next.pageInfo.hasNextPage]).toEqual([['One 1'], false])
})

test('what a page has shown is known by its id', async () => {
  const { id } = await shelf('One')
  const { shelves } = library.open(viewer)
  const page = await shelves.page('all', acme, {})
  expect(await library.statements(async () => expect(await shelves.byId.load(id)).toBe(page.nodes[0]))).toEqual([])
})

test('a cursor is of its list and order, and of nothing else', async () => {
  await shelf('One')
  const { shelves, books } = library.open(viewer)
  const { pageInfo } = await shelves.page('all', acme, {})
  const [name, ...position] = JSON.parse(Buffer.from(pageInfo.endCursor!, 'base64url').toString())
  expect([name, position]).toEqual(['shelves.oldest', [library.clock.now().toISOString(), expect.any(String)]])
  const refused = { extensions: { code: 'BAD_USER_INPUT', field: 'after' } }
  const latest = (await shelves.page('latest', acme, {})).pageInfo.endCursor!
  expect(JSON.parse(Buffer.from(latest, 'base64url').toString())[0]).toBe('shelves.newest')
  await expect(shelves.page('latest', acme, { after: pageInfo.endCursor })).rejects.toMatchObject(refused)
  await expect(books.page('onShelf', newId(), { after: pageInfo.endCursor })).rejects.toMatchObject(refused)
  const written = (...parts: string[]) => Buffer.from(JSON.stringify(['shelves.oldest', ...parts])).toString('base64url')
  for (const parts of [['yesterday', newId()], [position[0], 'seven'], [position[0]]])
    await expect(shelves.page('all', acme, { after: written(...parts) })).rejects.toMatchObject(refused)
  await expect(shelves.page('all', acme, { first: 101 })).rejects.toMatchObject({ extensions: { field: 'first' } })
})
