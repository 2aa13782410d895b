import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'
import { round, stored, texts, wake } from '../delivery/delivering.ts'
import {
  archiveBrand,
  brands,
  connectIntegration,
  createBrand,
  createPost,
  deletePost,
  reschedulePost,
  resolveDelivery,
  restoreBrand,
  updateBrand,
  updatePost,
} from '../documents.ts'

const make = async (graph: Supergraph, as: Viewer, input: object) => (await graph.execute(createBrand, { input }, { as })).data().createBrand
const listed = async (graph: Supergraph, as: Viewer, variables: object = {}) =>
  (await graph.execute(brands, { ...variables }, { as })).data().brands.nodes.map(({ name }: { name: string }) => name)
const audits = async ({ rows }: Supergraph) =>
  (await rows<{ action: string }>(`select action from publishing.audit_entries where action like 'brand.%' order by at, id`)).map(({ action }) => action)

const mutation = (name: string, fields: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`

describe('creating a brand', () => {
  test('by its name, for the active organization, and posts can be written for it at once', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const brand = await make(graph, owner, { name: '  Fresh Bread ', description: 'All about bread.' })
    expect(brand).toMatchObject({ organizationId: organization.id, name: 'Fresh Bread', description: 'All about bread.', archivedAt: null, version: 1 })
    const post = await graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'Hello' } }, { as: owner })
    expect(post.data().createPost.brandId).toBe(brand.id)
    expect(await graph.rows('select actor, action, subject_id from publishing.audit_entries where tenant_id = subject_id')).toEqual([
      { actor: `user:${owner.userId}`, action: 'brand.created', subject_id: brand.id },
    ])
  })

  test.each([
    ['without a name', { name: ' \t' }, 'name'],
    ['with a name of 81 characters', { name: 'x'.repeat(81) }, 'name'],
    ['with half a character', { name: 'a\ud800' }, 'name'],
    ['with a description of 2,001 characters', { name: 'x', description: 'x'.repeat(2001) }, 'description'],
    ['with a key of no characters', { name: 'x', idempotencyKey: '' }, 'idempotencyKey'],
  ])('never %s', async (_, input, field) => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    expect((await graph.execute(createBrand, { input }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await listed(graph, owner)).toEqual([])
  })

  test('happens once for one key, also with two requests at once; with other content the key is rejected', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const input = { name: 'Once', idempotencyKey: 'k' }
    const made = await Promise.all([make(graph, owner, input), make(graph, owner, input)])
    expect([made[0].id, await listed(graph, owner)]).toEqual([made[1].id, ['Once']])
    const other = await graph.execute(createBrand, { input: { ...input, name: 'Twice' } }, { as: owner })
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    expect(await audits(graph)).toEqual(['brand.created'])
  })

  test('stops at the organization’s quota, archived ones included, also with two requests at once', async () => {
    await using graph = await supergraph({ quotas: { brandsAnOrganization: 2 } })
    const { owner, outsider } = await graph.seed.owner().outsider()
    const first = await make(graph, owner, { name: 'One' })
    ;(await graph.execute(archiveBrand, { input: { id: first.id } }, { as: owner })).data()
    const answers = await Promise.all(['Two', 'Three'].map(name => graph.execute(createBrand, { input: { name } }, { as: owner })))
    expect(answers.map(({ partial }) => partial.errors[0]?.extensions.reason ?? 'made').sort()).toEqual(['QUOTA', 'made'])
    await make(graph, outsider, { name: 'Elsewhere' })
  })

  test('never without an organization', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const nowhere = { ...personally(owner), scopes: owner.scopes }
    ;(await graph.execute(createBrand, { input: { name: 'x' } }, { as: nowhere })).refused('FORBIDDEN')
    ;(await graph.execute(brands, {}, { as: nowhere })).refused('FORBIDDEN')
  })
})

describe('updating a brand', () => {
  test('changes the given fields; an update without effect changes neither version, time nor audit log', async () => {
    await using graph = await supergraph()
    const { owner, brand } = await graph.seed.owner().brand('Before')
    const update = async (input: object) => (await graph.execute(updateBrand, { input: { id: brand.id, ...input } }, { as: owner })).data().updateBrand
    await graph.clock.advance(1000)
    expect(await update({ description: 'Words' })).toMatchObject({
      name: 'Before',
      description: 'Words',
      version: 2,
      updatedAt: graph.clock.now().toISOString(),
    })
    await graph.clock.advance(1000)
    expect(await update({ name: ' Before ', description: 'Words' })).toMatchObject({ version: 2, updatedAt: graph.clock.in(-1000).toISOString() })
    expect(await update({ name: 'After', description: null })).toMatchObject({ name: 'After', description: null, version: 3 })
    expect(await audits(graph)).toEqual(['brand.changed', 'brand.changed'])
  })

  test('is rejected against an older version, by another organization, and for a missing brand', async () => {
    await using graph = await supergraph()
    const { owner, outsider, brand } = await graph.seed.owner().outsider().brand('Mine')
    for (const document of [updateBrand, archiveBrand, restoreBrand]) {
      const stale = await graph.execute(document, { input: { id: brand.id, expectedVersion: 7 } }, { as: owner })
      expect(stale.refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION', version: 1 })
      ;(await graph.execute(document, { input: { id: brand.id } }, { as: outsider })).refused('NOT_FOUND')
      ;(await graph.execute(document, { input: { id: newId() } }, { as: owner })).refused('NOT_FOUND')
    }
    ;(await graph.execute(updateBrand, { input: { id: brand.id, name: null } }, { as: owner })).refused('BAD_USER_INPUT')
    expect([await listed(graph, owner), await audits(graph)]).toEqual([['Mine'], []])
  })
})

describe('archiving a brand', () => {
  test('removes it from list and widget, and restoring brings it back', async () => {
    await using graph = await supergraph()
    const row = { status: 'FAILED' as const, failureCode: 'NO_CONNECTION', failureMessage: 'none', failedAt: graph.clock.now() }
    const { owner, brand } = await graph.seed.owner().brand('Quiet').post({ row })
    const failed = async () =>
      (await graph.execute('{ publishingWidget { statistics { key value } } }', {}, { as: owner }))
        .data()
        .publishingWidget.statistics.find(({ key }: { key: string }) => key === 'failed').value
    const news = await graph.subscribe('subscription { widgetUpdated { payload { statistics { key value } } } }', {}, { as: owner })
    await news.next()
    const archived = (await graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner })).data().archiveBrand
    expect(archived).toMatchObject({ archivedAt: graph.clock.now().toISOString(), version: 2 })
    expect([await listed(graph, owner), await listed(graph, owner, { archived: true }), await failed()]).toEqual([[], ['Quiet'], 0])
    expect((await news.next()).widgetUpdated).toBeTruthy()
    await graph.clock.advance(1000)
    const restored = (await graph.execute(restoreBrand, { input: { id: brand.id, expectedVersion: 2 } }, { as: owner })).data().restoreBrand
    expect(restored).toMatchObject({ archivedAt: null, version: 3 })
    expect([await listed(graph, owner), await listed(graph, owner, { archived: true }), await failed()]).toEqual([['Quiet'], [], 1])
    expect((await graph.execute(restoreBrand, { input: { id: brand.id } }, { as: owner })).data().restoreBrand.version).toBe(3)
    expect(await audits(graph)).toEqual(['brand.archived', 'brand.restored'])
    await news.end()
  })

  test('never while a post of it is scheduled', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand, post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    const refused = (await graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner })).refused('CONFLICT')
    expect(refused.extensions).toMatchObject({ reason: 'POSTS_SCHEDULED', scheduled: 1 })
    ;(await graph.execute(updatePost, { input: { id: post.id, scheduledAt: null } }, { as: owner })).data()
    ;(await graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner })).data()
  })

  test('fails when a post is being scheduled at the same moment, or the scheduling fails', async () => {
    await using graph = await supergraph({ sandbox: true })
    const story = graph.seed.owner().brand()
    const { owner } = await story
    for (let round = 0; round < 5; round += 1) {
      const { brand, post } = await story.brand(`Round ${round}`).post()
      const answers = await Promise.all([
        graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner }),
        graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon() } }, { as: owner }),
        graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'x', scheduledAt: graph.clock.soon() } }, { as: owner }),
      ])
      const [archived, ...written] = answers.map(({ partial }) => partial.errors.length === 0)
      expect(written.some(Boolean)).toBe(!archived)
    }
    const torn = `select from publishing.posts p join publishing.brands b on b.id = p.brand_id where p.status = 'SCHEDULED' and b.archived_at is not null`
    expect(await graph.rows(torn)).toEqual([])
  })

  test('stops deliveries even if a scheduled post remains', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { post } = await graph.seed
      .owner()
      .brand()
      .connection()
      .post({ scheduledAt: graph.clock.in(60_000) })
    await graph.rows('update publishing.brands set archived_at = $1', [graph.clock.now()])
    await graph.clock.advance(120_000)
    await round(graph)
    await wake(graph, post)
    expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[], 'SCHEDULED'])
    await graph.rows('update publishing.brands set archived_at = null')
    await round(graph)
    expect(await texts(graph)).toEqual([post.copy])
  })

  test('lets no change pass but restoring', async () => {
    await using graph = await supergraph({ sandbox: true })
    const row = {
      status: 'FAILED' as const,
      deliveryPhase: 'UNKNOWN' as const,
      attempts: 1,
      failureCode: 'OUTCOME_UNKNOWN',
      failureMessage: '?',
      failedAt: graph.clock.now(),
    }
    const story = graph.seed.owner().brand('Archived')
    const { owner, brand, post } = await story.post()
    const { post: unknown } = await story.post({ row })
    const hook = { brandId: brand.id, url: 'https://1.1.1.1/hook', events: ['post.failed'] }
    const made = await graph.execute(mutation('createWebhookEndpoint', 'endpoint { id }'), { input: hook }, { as: owner })
    const { id: webhookId } = made.data().createWebhookEndpoint.endpoint
    ;(await graph.execute(mutation('createCalendarFeed', 'url'), { input: { brandId: brand.id } }, { as: owner })).data()
    ;(await graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner })).data()
    const writes: [string, object][] = [
      [mutation('transferBrand', 'id'), { id: brand.id, organizationId: owner.organizationId }],
      [mutation('rotateWebhookSecret', 'secret'), { id: webhookId }],
      [mutation('deleteWebhookEndpoint', 'id'), { id: webhookId }],
      [mutation('revokeCalendarFeed', 'url'), { brandId: brand.id }],
      [updateBrand, { id: brand.id, name: 'x' }],
      [createPost, { brandId: brand.id, platform: 'X', copy: 'x' }],
      [updatePost, { id: post.id, copy: 'x' }],
      [reschedulePost, { id: post.id, scheduledAt: graph.clock.soon() }],
      [deletePost, { id: post.id }],
      [resolveDelivery, { id: unknown.id, platformPostId: null }],
      [connectIntegration, { brandId: brand.id, platform: 'X' }],
    ]
    const version = 'select version, archived_at from publishing.brands'
    const before = await graph.rows(version)
    ;(await graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner })).data()
    expect(await graph.rows(version)).toEqual(before)
    for (const [document, input] of writes)
      expect((await graph.execute(document, { input }, { as: owner })).refused('CONFLICT').extensions.reason, document).toBe('BRAND_ARCHIVED')
    expect((await graph.rows('select copy from publishing.posts')).length).toBe(2)
    ;(await graph.execute(restoreBrand, { input: { id: brand.id } }, { as: owner })).data()
    ;(await graph.execute(updatePost, { input: { id: post.id, copy: 'x' } }, { as: owner })).data()
  })
})

describe('brands are listed', () => {
  test('oldest first, in pages, of the active organization alone', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    for (const name of ['A', 'B', 'C']) {
      await graph.clock.advance(1000)
      await make(graph, owner, { name })
    }
    await make(graph, outsider, { name: 'Elsewhere' })
    const { pageInfo, totalCount } = (await graph.execute(brands, { first: 2 }, { as: owner })).data().brands
    expect([await listed(graph, owner, { first: 2 }), pageInfo.hasNextPage, totalCount]).toEqual([['A', 'B'], true, 3])
    expect(await listed(graph, owner, { first: 2, after: pageInfo.endCursor })).toEqual(['C'])
  })
})

test('limits the posts of one caller within a day, and says when the next is allowed', async () => {
  await using graph = await supergraph({ quotas: { postsADay: 2 } })
  const { owner, member, brand } = await graph.seed.owner().member().brand()
  const write = (as: Viewer, input: object = {}) => graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'x', ...input } }, { as })
  const first = (await write(owner, { idempotencyKey: 'k' })).data().createPost
  await graph.clock.advance(3_600_000)
  ;(await write(owner)).data()
  expect((await write(owner)).refused('RATE_LIMITED').extensions.retryAfter).toBe(23 * 3600)
  expect((await write(owner, { idempotencyKey: 'k' })).data().createPost.id).toBe(first.id)
  ;(await write(member)).data()
  await graph.clock.advance(23 * 3_600_000)
  ;(await write(owner)).data()
  ;(await write(owner)).refused('RATE_LIMITED')
})

test('each of several posts in one request counts, and none is written when not all are allowed', async () => {
  await using graph = await supergraph({ quotas: { postsADay: 2 } })
  const { owner, brand } = await graph.seed.owner().brand()
  const compose = (platforms: string[]) =>
    graph.execute(
      'mutation($input: ComposePostsInput!) { composePosts(input: $input) { posts { id } } }',
      { input: { brandId: brand.id, copy: 'x', platforms } },
      { as: owner },
    )
  ;(await compose(['X', 'THREADS', 'LINKEDIN'])).refused('RATE_LIMITED')
  expect(await graph.rows('select id from publishing.posts')).toEqual([])
  expect((await compose(['X', 'THREADS'])).data().composePosts.posts).toHaveLength(2)
})
