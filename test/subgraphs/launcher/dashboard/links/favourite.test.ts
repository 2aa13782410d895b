import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'
import { seedApps } from '../../catalog/seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  await seedApps(
    graph,
    { slug: 'route-finder', title: 'Route Finder' },
    { slug: 'stock-count', title: 'Stock Count' },
    { slug: 'day-planner', title: 'Day Planner', contexts: ['personal'] },
  )
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
})
afterAll(() => graph[Symbol.asyncDispose]())

const fields = 'id app title url icon order entry { title }'
const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const change = (as: Viewer, name: string, input: object, selection = fields) =>
  ask(as, `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`, { input })
const install = async (as: Viewer, app: string) => (await change(as, 'installApp', { app }, 'id')).data()
const uninstall = async (as: Viewer, app: string) => (await change(as, 'uninstallApp', { app }, 'id')).data()
const add = async (as: Viewer, input: object) => (await change(as, 'addFavourite', input)).data().addFavourite
const read = async (as: Viewer) => (await ask(as, `{ favourites { ${fields} } }`)).data().favourites
const titles = async (as: Viewer): Promise<string[]> => (await read(as)).map(({ title }: { title: string }) => title)
const wiki = { title: 'Wiki', url: 'https://demo.example/wiki' }

describe('addFavourite', () => {
  it('puts an app with its title and icon, or an address, behind the others', async () => {
    await install(owner, 'stock-count')
    expect(await add(member, { app: 'stock-count' })).toEqual({
      ...{ id: expect.any(String), app: 'stock-count', title: 'Stock Count', url: null, order: 0, entry: { title: 'Stock Count' } },
      icon: 'http://localhost:4000/launcher/icons/stock-count',
    })
    expect(await add(member, wiki)).toEqual({ id: expect.any(String), app: null, ...wiki, icon: null, order: 1, entry: null })
    expect(await titles(member)).toEqual(['Stock Count', 'Wiki'])
  })

  it('answers the first when the same is added again, also twenty times at once', async () => {
    await install(owner, 'stock-count')
    const answers = await Promise.all(Array.from({ length: 20 }, () => add(member, { app: 'stock-count' })))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    const first = await add(member, wiki)
    expect((await add(member, { ...wiki, url: 'https://DEMO.example/wiki' })).id).toBe(first.id)
    expect((await add(member, { ...wiki, title: 'Handbook' })).id).not.toBe(first.id)
  })

  it('refuses an app that is not installed in the context as one that is unknown', async () => {
    await install(owner, 'route-finder')
    const alone = { ...personally(member), scopes: personalScopes }
    await install(alone, 'day-planner')
    const refused = [await change(member, 'addFavourite', { app: 'stock-count' }), await change(outsider, 'addFavourite', { app: 'route-finder' })]
    for (const answer of [...refused, await change(member, 'addFavourite', { app: 'day-planner' }), await change(member, 'addFavourite', { app: 'nowhere' })])
      answer.refused('NOT_FOUND')
    expect((await add(alone, { app: 'day-planner' })).title).toBe('Day Planner')
    expect(await read(member)).toEqual([])
  })

  it.each([
    [{ app: 'route-finder', ...wiki }, 'app'],
    [{}, 'app'],
    [{ title: 'Wiki' }, 'url'],
    [{ url: wiki.url }, 'title'],
    [{ ...wiki, url: 'javascript:alert(1)' }, 'url'],
    [{ ...wiki, url: 'http://demo.example/' }, 'url'],
    [{ ...wiki, url: 'https://name:word@demo.example/' }, 'url'],
    [{ ...wiki, url: `https://demo.example/${'x'.repeat(2_000)}` }, 'url'],
    [{ ...wiki, title: 'x'.repeat(121) }, 'title'],
    [{ app: 'Route Finder' }, 'app'],
  ])('refuses %o with the field', async (input, field) => {
    expect((await change(member, 'addFavourite', input)).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await read(member)).toEqual([])
  })

  it('refuses the 51st, also when several are added at once, and not what is one already', async () => {
    for (let at = 0; at < 48; at += 1) await add(member, { title: `n${at}`, url: `https://demo.example/${at}` })
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(title => change(member, 'addFavourite', { ...wiki, title })))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(2)
    expect((await change(member, 'addFavourite', wiki)).refused('CONFLICT').extensions.reason).toBe('LIMIT')
    expect((await add(member, { title: 'n0', url: 'https://demo.example/0' })).order).toBe(0)
    expect((await add(owner, wiki)).order).toBe(0)
  })

  it('returns the first favourite for the same key, and refuses the key for another', async () => {
    const first = await add(member, { ...wiki, idempotencyKey: 'a' })
    expect((await add(member, { ...wiki, idempotencyKey: 'a' })).id).toBe(first.id)
    expect((await change(member, 'addFavourite', { ...wiki, title: 'Other', idempotencyKey: 'a' })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })
})

describe('favourites', () => {
  it('belong to one person in one context', async () => {
    const { id } = await add(member, wiki)
    const alone = { ...personally(member), scopes: personalScopes }
    for (const other of [owner, outsider, alone]) {
      expect(await read(other)).toEqual([])
      ;(await change(other, 'removeFavourite', { id })).refused('NOT_FOUND')
    }
    expect((await change(member, 'removeFavourite', { id })).data().removeFavourite.id).toBe(id)
    expect(await read(member)).toEqual([])
  })

  it('leave out an app that was removed, and have it back at its place', async () => {
    await install(owner, 'stock-count')
    await add(member, { app: 'stock-count' })
    await add(member, wiki)
    await add(member, { ...wiki, title: 'Handbook' })
    await uninstall(owner, 'stock-count')
    const [first, second] = await read(member)
    expect([first.title, second.title]).toEqual(['Wiki', 'Handbook'])
    const ordered = (await change(member, 'orderFavourites', { ids: [second.id, first.id] })).data().orderFavourites
    expect(ordered.map(({ title }: { title: string }) => title)).toEqual(['Handbook', 'Wiki'])
    await install(owner, 'stock-count')
    expect(await titles(member)).toEqual(['Stock Count', 'Handbook', 'Wiki'])
  })

  it('are read with a fixed number of statements', async () => {
    for (const app of ['stock-count', 'route-finder']) {
      await install(owner, app)
      await add(member, { app })
    }
    for (let at = 0; at < 10; at += 1) await add(member, { title: `n${at}`, url: `https://demo.example/${at}` })
    const statements = await graph.statements(() => read(member))
    expect(statements.filter(text => /launcher\./.test(text))).toHaveLength(4)
  })

  it('are refused to keys', async () => {
    ;(await ask(key(owner.organizationId!, ['launcher:launcher.read']), '{ favourites { id } }')).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })
})

describe('orderFavourites', () => {
  it('takes each favourite once, and changes nothing otherwise', async () => {
    const [first, second] = [await add(member, wiki), await add(member, { ...wiki, title: 'Handbook' })]
    const foreign = await add(owner, wiki)
    for (const ids of [[first.id], [first.id, first.id], [first.id, second.id, second.id], [first.id, foreign.id], ['nonsense', first.id], []])
      expect((await change(member, 'orderFavourites', { ids })).refused('BAD_USER_INPUT').extensions.field).toBe('ids')
    expect(await titles(member)).toEqual(['Wiki', 'Handbook'])
    ;(await change(member, 'orderFavourites', { ids: [second.id, first.id] })).data()
    expect((await read(member)).map(({ id, order }: { id: string; order: number }) => [id, order])).toEqual([
      [second.id, 0],
      [first.id, 1],
    ])
  })
})
