import { expect, test } from 'vitest'
import { readPage } from '../../../platform/page.ts'
import { latestFirst } from '../../../subgraphs/publishing/stores/news/activity.ts'
import { newestFirst } from '../../../subgraphs/publishing/stores/post.ts'
import { change, create, inTransaction, remove } from '../../../subgraphs/store/write.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { unbounded } from '../../kit/reading.ts'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'

/** What a resolver of this viewer is handed, without any check of its own. */
const handed = ({ platform }: Supergraph, viewer: Viewer) => platform.publishing.open(viewer, { ...unbounded, requestId: 'request-1' })

test('a resolver without any checks sees no rows of another organization, by any function of a store', async () => {
  await using graph = await supergraph()
  const { owner, outsider, brand, post, connection } = await graph.seed.owner().outsider().brand().connection().post()
  const ours = handed(graph, owner)
  const audit = () => ({ tenantId: brand.id, action: 'brand.changed', subjectId: brand.id })
  await change(ours, { of: ours.brands, id: brand.id, decide: () => ({ description: 'Ours' }), audit })
  const [entry] = await graph.rows<{ id: string }>(`select id from publishing.audit_entries where action = 'brand.changed'`)
  const happened = { brandId: brand.id, id: entry!.id }
  for (const viewer of [outsider, anonymous]) {
    const { brands, posts, connections, activities } = handed(graph, viewer)
    const activity = await activities.page(brand.id, readPage({}, latestFirst))
    expect([activity.nodes, await activity.totalCount(), await activities.one.load(happened)]).toEqual([[], 0, null])
    expect(await brands.byId.load(brand.id)).toBe(null)
    expect(await posts.byId.load(post.id)).toBe(null)
    expect(await posts.find(post.id)).toBe(null)
    expect(await connections.byId.load(connection.id)).toBe(null)
    expect(await connections.manyBy('brandId').load(brand.id)).toEqual([])
    const page = await brands.page('all', owner.organizationId!, {})
    expect([page.nodes, await page.totalCount()]).toEqual([[], 0])
    const filtered = await posts.filtered({ organizationId: owner.organizationId }, readPage({}, newestFirst))
    expect([filtered.nodes, await filtered.totalCount()]).toEqual([[], 0])
    await expect(posts.require(post.id)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND', id: post.id } })
    await inTransaction(handed(graph, viewer), async ({ transaction }) => {
      expect(await brands.lock(brand.id, transaction)).toBe(null)
      expect(await posts.lock(post.id, transaction)).toBe(null)
    })
  }
  const { brands, posts, connections, activities } = handed(graph, owner)
  expect(await activities.one.load(happened)).toMatchObject({ ...happened, kind: 'BRAND' })
  expect((await activities.page(brand.id, readPage({}, latestFirst))).nodes.map(({ id }) => id)).toContain(happened.id)
  expect(await Promise.all([brands.byId.load(brand.id), posts.byId.load(post.id), connections.byId.load(connection.id)])).toMatchObject([
    { id: brand.id },
    { id: post.id },
    { id: connection.id },
  ])
  expect(await brands.page('all', owner.organizationId!, {})).toMatchObject({ nodes: [{ id: brand.id }] })
  expect(await graph.job.posts.byId.load(post.id)).toMatchObject({ id: post.id })
})

test('and can change or remove none of them', async () => {
  await using graph = await supergraph()
  const { outsider, brand, post } = await graph.seed.owner().outsider().brand().post()
  const context = handed(graph, outsider)
  const refused = { extensions: { code: 'NOT_FOUND' } }
  await expect(change(context, { of: context.brands, id: brand.id, decide: () => ({ name: 'Mine' }) })).rejects.toMatchObject(refused)
  await expect(remove(context, { of: context.posts, id: post.id })).rejects.toMatchObject(refused)
  expect(await graph.rows('select b.name, p.id from publishing.brands b join publishing.posts p on p.brand_id = b.id')).toEqual([
    { name: brand.name, id: post.id },
  ])
})

test('a context reads a row again after changing it', async () => {
  await using graph = await supergraph()
  const { owner, brand } = await graph.seed.owner().brand('Before')
  const context = handed(graph, owner)
  expect(await context.brands.byId.load(brand.id)).toMatchObject({ name: 'Before' })
  await change(context, { of: context.brands, id: brand.id, decide: () => ({ name: 'After' }) })
  expect(await context.brands.byId.load(brand.id)).toMatchObject({ name: 'After', version: brand.version + 1 })
})

test('of twenty concurrent requests with one key by two people of one organization, one creates a record, and all get it; consequences happen once', async () => {
  await using graph = await supergraph()
  const { owner, member, brand } = await graph.seed.owner().member().brand()
  const organizationId = owner.organizationId!
  const announced: string[] = []
  const make = async (name: string, as = owner) => {
    const context = handed(graph, as)
    return create(context, {
      of: context.brands,
      once: { idempotencyKey: 'one', ...{ name } },
      tenantId: organizationId,
      run: ({ now }, id) => ({ id, organizationId, name, createdAt: now, updatedAt: now, createdBy: `user:${as.userId}` }),
      audit: ({ id }) => ({ tenantId: id, action: 'brand.created', subjectId: id }),
      announce: ({ id }) => void announced.push(id),
    })
  }
  const made = await Promise.all(Array.from({ length: 20 }, (_, at) => make('A brand', at % 2 ? owner : member)))
  expect(new Set(made.map(({ row }) => row.id)).size).toBe(1)
  expect(made.filter(({ repeated }) => !repeated)).toHaveLength(1)
  expect(announced).toEqual([made[0]!.row.id])
  expect(await graph.rows('select count(*)::int as n from publishing.audit_entries')).toEqual([{ n: 1 }])
  await expect(make('Another')).rejects.toMatchObject({ extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } })
  await graph.rows('delete from publishing.brands where id <> $1', [brand.id])
  await expect(make('A brand'), 'what the key has made is gone').rejects.toMatchObject({ extensions: { code: 'NOT_FOUND', field: 'idempotencyKey' } })
  await graph.rows('delete from publishing.idempotency_keys')
  expect(await make('Another'), 'what the key has made is forgotten').toMatchObject({ repeated: false, row: { name: 'Another' } })
  expect(await make('Another')).toMatchObject({ repeated: true })
})

test('a change that fails at its end leaves neither row, audit entry nor key, and publishes nothing', async () => {
  await using graph = await supergraph()
  const { owner, brand } = await graph.seed.owner().brand('Before')
  const context = handed(graph, owner)
  const announced: unknown[] = []
  const failing = {
    wake: () => Promise.reject(new Error('no wake-up')),
    announce: (changed: unknown) => void announced.push(changed),
    audit: () => ({ tenantId: brand.id, action: 'brand.changed', subjectId: brand.id }),
  }
  await expect(change(context, { of: context.brands, id: brand.id, decide: () => ({ name: 'After' }), ...failing })).rejects.toThrow('no wake-up')
  const once = { idempotencyKey: 'one' }
  const row = { organizationId: owner.organizationId!, name: 'New', createdAt: graph.clock.now(), updatedAt: graph.clock.now(), createdBy: 'user:x' }
  const creation = { of: context.brands, once, tenantId: owner.organizationId!, run: (_: unknown, id: string) => ({ id, ...row }), ...failing }
  await expect(create(context, creation)).rejects.toThrow('no wake-up')
  expect(await graph.rows('select name, version from publishing.brands')).toEqual([{ name: 'Before', version: brand.version }])
  expect(await graph.rows('select from publishing.audit_entries')).toEqual([])
  expect(await graph.rows('select from publishing.idempotency_keys')).toEqual([])
  expect(announced).toEqual([])
})
