import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql'
import { expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { newId } from '../../platform/ids.ts'
import { Work, workLimits } from '../../router/engine/work.ts'
import { createEachLoader } from '../../subgraphs/store/loader.ts'
import { crowd } from '../kit/crowd.ts'
import { identityOf } from '../kit/identity.ts'
import { supergraph } from '../kit/supergraph.ts'

const nested = (levels: number): string =>
  levels === 0 ? 'id' : `organization { memberships(first: 25) { totalCount nodes { id ${nested(levels - 1)} user { name } } } }`

test('nested lists cost one statement a level, for any number of parents', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  await crowd(graph.database.sequelize, owner.organizationId!, { members: 20, brands: 3, posts: 5 })
  const ask = () => graph.execute(`{ organizationMembers(first: 10) { nodes { id ${nested(2)} } } }`, {}, { as: owner })
  // A connection that is new says things of its own.
  await ask()
  const statements = await graph.statements(async () => (await ask()).data())
  // The first page, the organization, its members, their total, their people; and nothing for the level below, which asks for the same.
  // Sweeps that look for what is old go on beside it, and only delete.
  expect(statements.filter(text => text.startsWith('select')).map(text => text.slice(0, 90))).toHaveLength(5)
})

test('a list under several aliases is read once for each page', async () => {
  await using graph = await supergraph()
  const { owner, brand } = await graph.seed.owner().brand()
  await crowd(graph.database.sequelize, owner.organizationId!, { members: 3, brands: 3, posts: 20 })
  const statements = await graph.statements(async () => {
    const answer = await graph.execute(
      `query ($brand: ID) {
        a: posts(brandId: $brand) { totalCount nodes { id } } b: posts(brandId: $brand) { totalCount nodes { copy } } c: posts(brandId: $brand, first: 2) { totalCount nodes { id } }
        m: organizationMembers { totalCount nodes { id } } n: organizationMembers { totalCount } k: apiKeys { nodes { id } } l: apiKeys { nodes { name } }
        s: services { slug } t: services { title } v: publishingWidget { statistics { value } } w: publishingWidget { statistics { key } }
        x: viewer { organization { p: brands { nodes { id } } q: brands { totalCount nodes { name } } } }
      }`,
      { brand: brand.id },
      { as: owner },
    )
    answer.data()
  })
  const reading = (table: RegExp) => statements.filter(text => table.test(text)).length
  expect(reading(/^select .* from \(\s*select w\.brand_id/)).toBe(2)
  expect(reading(/^select count\(\*\)::int as count from publishing\.brands b join publishing\.posts p/)).toBe(1)
  expect(reading(/identity\.memberships t/)).toBe(2)
  expect(reading(/identity\.api_keys t/)).toBe(1)
  expect(reading(/publishing\.brands t/)).toBe(2)
  expect(reading(/service_entries/)).toBe(1)
  expect(reading(/scheduledToday/)).toBe(1)
})

test('a list is cut and continued the same below one parent and below many', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  await crowd(graph.database.sequelize, owner.organizationId!, { members: 25, brands: 25, posts: 0 })
  for (const list of ['memberships', 'brands']) {
    const page = async (after: string | null) =>
      (
        await graph.execute(
          `query ($after: String) { viewer { organization { ${list}(first: 10, after: $after) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } } } }`,
          { after },
          { as: owner },
        )
      ).data().viewer.organization[list]
    const seen: string[] = []
    let after: string | null = null
    for (;;) {
      const { nodes, pageInfo, totalCount } = await page(after)
      expect(totalCount).toBe(list === 'brands' ? 25 : 26)
      seen.push(...nodes.map(({ id }: { id: string }) => id))
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBe(list === 'brands' ? 25 : 26)
  }
})

const worst = `{ organizationMembers(first: 100) { nodes { ${'organization { memberships(first: 100) { nodes { '.repeat(3)} id ${'} } } '.repeat(3)} } } }`

test('nested lists that would multiply beyond limits are rejected, without delaying others, where no cost limit applies', async () => {
  await using graph = await supergraph({ running: { remote: { ...readConfig({}).remote, maxCost: 999_999_999 } } })
  const { owner } = await graph.seed.owner()
  await crowd(graph.database.sequelize, owner.organizationId!, { members: 99, brands: 0, posts: 0 })
  const sender = graph.execute(worst, {}, { as: owner })
  let turns = 0
  let counting = setImmediate(function again() {
    turns++
    counting = setImmediate(again)
  })
  const refused = await sender.finally(() => clearImmediate(counting))
  expect(refused.refused('BAD_USER_INPUT').message).toMatch(/lists within lists/)
  // Everybody else had a turn after every few thousand values.
  expect(turns).toBeGreaterThan(workLimits.values / workLimits.turn / 2)
})

const everything = getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true, specifiedByUrl: true, directiveIsRepeatable: true })

test('clients can read the whole schema and its types’ names beside it, however large it is, and no lists that multiply', async () => {
  await using graph = await supergraph()
  const answer = (await graph.execute(everything)).data() as IntrospectionQuery
  expect(printSchema(buildClientSchema(answer))).toContain('type Mutation')
  const more = everything.replace('__schema {', 'again: __schema { types { name } } __schema {')
  expect((await graph.execute(more)).data().again.types).toHaveLength(answer.__schema.types.length)
  const nested = `{ ${Array.from({ length: 100 }, (_, at) => `a${at}: __schema { types { fields { type { ofType { fields { name } } } } } }`).join(' ')} }`
  expect((await graph.execute(nested)).refused('BAD_USER_INPUT').message).toMatch(/lists within lists/)
})

test('one page is read below any number of parents by one statement, each parent with its own rows in order', async () => {
  await using graph = await supergraph()
  const [here, there] = [await graph.seed.owner(), await graph.seed.owner()]
  await crowd(graph.database.sequelize, here.organization.id, { members: 5, brands: 0, posts: 0 })
  await crowd(graph.database.sequelize, there.organization.id, { members: 2, brands: 0, posts: 0 })
  const { memberships } = identityOf(graph.database.sequelize, graph.clock)
  const nowhere = newId()
  const statements = await graph.statements(async () => {
    const pages = await Promise.all([here.organization.id, nowhere, there.organization.id].map(id => memberships.page('ofOrganization', id, { first: 4 })))
    expect(pages.map(({ nodes }) => nodes.length)).toEqual([4, 0, 3])
    expect(pages.map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([true, false, false])
    for (const { nodes } of pages) expect(nodes).toEqual(nodes.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()))
    expect(pages[2]!.nodes.every(({ organizationId }) => organizationId === there.organization.id)).toBe(true)
    expect(await Promise.all(pages.map(page => page.totalCount()))).toEqual([6, 0, 3])
  })
  // Statements of background work do not concern members.
  expect(statements.filter(text => text.includes('memberships'))).toHaveLength(2)
})

test('statements of one operation reach the database a few at a time, and too many of them are refused', async () => {
  const work = new Work('request-1', undefined, undefined, () => 0)
  const held: (() => void)[] = []
  const loader = createEachLoader<number, number>(work, async key => {
    await new Promise<void>(resolve => held.push(resolve))
    return key
  })
  const answers = Promise.all(Array.from({ length: workLimits.statements }, (_, key) => loader.load(key)))
  await expect.poll(() => held.length).toBe(workLimits.statementsAtOnce)
  let most = 0
  let begun = 0
  while (begun < workLimits.statements) {
    await expect.poll(() => held.length).toBeGreaterThan(0)
    await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, held.length)
    begun += held.length
    for (const answer of held.splice(0)) answer()
  }
  expect((await answers).length).toBe(workLimits.statements)
  expect(most).toBe(workLimits.statementsAtOnce)
  await expect(loader.load(-1)).rejects.toMatchObject({ message: expect.stringContaining('more than 200 times'), extensions: { code: 'BAD_USER_INPUT' } })
})

test('an operation with very many lists is answered a few statements at a time, and one with too many is rejected', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner().brand()
  const lists = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: posts(authorId: "${newId()}") { totalCount }`).join(' ')
  expect((await graph.execute(`{ ${lists(90)} }`, {}, { as: owner })).data()).toMatchObject({ a0: { totalCount: 0 }, a89: { totalCount: 0 } })
  const statements = await graph.statements(async () => {
    const answer = await graph.execute(
      `{ ${lists(99)} organizationMembers { totalCount } apiKeys { totalCount nodes { id } } services { slug } }`,
      {},
      { as: owner },
    )
    expect(answer.partial.errors).toMatchObject([{ message: expect.stringContaining('more than 200 times'), extensions: { code: 'BAD_USER_INPUT' } }])
  })
  expect(statements.length).toBeLessThanOrEqual(workLimits.statements)
})
