import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const fields = 'id title status version posts { id position copy status }'
const create = `mutation($input: CreatePostThreadInput!) { createPostThread(input: $input) { ${fields} } }`
const reorder = `mutation($input: ReorderPostThreadInput!) { reorderPostThread(input: $input) { ${fields} } }`
const read = `query($id: ID!) { postThread(id: $id) { ${fields} } }`
const list = 'query($brand: ID!) { postThreads(brandId: $brand) { nodes { id title posts { id } } totalCount } }'
const remove = 'mutation($id: ID!) { deletePost(input: { id: $id }) { id } }'

interface Post {
  readonly id: string
  readonly copy: string
  readonly position: number
}
const three = [1, 2, 3].map(number => ({ copy: `Part ${number}` }))

describe('a thread', () => {
  test('is written whole, in its order, once a key, and is read by the threadId of its posts', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const input = { brandId: brand.id, platform: 'X', title: 'Three things', posts: three, idempotencyKey: 'thread', scheduledAt: graph.clock.in(3_600_000) }
    const made = (await graph.execute(create, { input }, { as: owner })).data().createPostThread
    expect(made).toMatchObject({ title: 'Three things', status: 'SCHEDULED', version: 1, posts: three.map(({ copy }, at) => ({ copy, position: at + 1 })) })
    expect((await graph.execute(create, { input }, { as: owner })).data().createPostThread).toEqual(made)
    expect((await graph.execute(read, { id: made.id }, { as: owner })).data().postThread).toEqual(made)
    const post = await graph.execute(
      'query($id: ID!) { post(id: $id) { threadId thread { id title } waitsFor { id } } }',
      { id: made.posts[1].id },
      { as: owner },
    )
    expect(post.data().post).toEqual({ threadId: made.id, thread: { id: made.id, title: 'Three things' }, waitsFor: { id: made.posts[0].id } })
    expect((await graph.execute(list, { brand: brand.id }, { as: owner })).data().postThreads).toMatchObject({ totalCount: 1, nodes: [{ id: made.id }] })
  })

  test('is not created at all when one of its posts cannot be sent, or there are too many', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const input = { brandId: brand.id, platform: 'X', scheduledAt: graph.clock.in(3_600_000).toISOString() }
    const long = [...three, { copy: 'x'.repeat(281) }]
    const { extensions } = (await graph.execute(create, { input: { ...input, posts: long } }, { as: owner })).refused('BAD_USER_INPUT')
    expect(extensions).toMatchObject({ field: 'copy', problems: expect.arrayContaining([expect.objectContaining({ code: 'COPY_TOO_LONG', position: 4 })]) })
    for (const posts of [[], Array.from({ length: 26 }, () => ({ copy: 'x' }))])
      expect((await graph.execute(create, { input: { ...input, posts } }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe('posts')
    expect(await graph.rows('select id from publishing.posts where brand_id = $1', [brand.id])).toEqual([])
    expect(await graph.rows('select id from publishing.post_threads where brand_id = $1', [brand.id])).toEqual([])
  })

  test('of one post is that post’s, and is listed from its second post on until its last one is deleted', async () => {
    const story = graph.seed.owner().brand()
    const { owner, brand } = await story
    const { post } = await story.post()
    expect((await graph.execute(read, { id: post.id }, { as: owner })).data().postThread).toMatchObject({
      id: post.id,
      title: null,
      version: 1,
      posts: [{ id: post.id }],
    })
    const threads = async () => (await graph.execute(list, { brand: brand.id }, { as: owner })).data().postThreads.nodes.map(({ id }: { id: string }) => id)
    expect(await threads()).toEqual([])
    const { post: second } = await story.post({ threadId: post.id })
    expect(await threads()).toEqual([post.id])
    await graph.execute(remove, { id: post.id }, { as: owner }).then(answer => answer.data())
    expect((await graph.execute(read, { id: post.id }, { as: owner })).data().postThread.posts).toMatchObject([{ id: second.id }])
    await graph.execute(remove, { id: second.id }, { as: owner }).then(answer => answer.data())
    expect(await threads()).toEqual([])
    ;(await graph.execute(read, { id: post.id }, { as: owner })).refused('NOT_FOUND')
  })

  test('is reordered under its version; published posts keep their position', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const made = (await graph.execute(create, { input: { brandId: brand.id, platform: 'X', posts: three } }, { as: owner })).data().createPostThread
    const [one, two, last] = made.posts.map(({ id }: Post) => id)
    const ask = (postIds: string[], more: object = {}) => graph.execute(reorder, { input: { id: made.id, postIds, ...more } }, { as: owner })
    const after = (await ask([last, one, two], { expectedVersion: 1 })).data().reorderPostThread
    expect([after.version, after.posts.map(({ copy }: Post) => copy)]).toEqual([2, ['Part 3', 'Part 1', 'Part 2']])
    expect((await ask([one, two, last], { expectedVersion: 1 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    expect((await ask([last, one, two])).data().reorderPostThread.version).toBe(2)
    await graph.rows(
      `update publishing.posts set status = 'PUBLISHED', published_at = now(), platform_post_id = '1', external_account_id = 'a', permalink = 'https://x.test/1' where id = $1`,
      [last],
    )
    expect((await ask([one, last, two])).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', id: last })
    expect((await ask([last, two, one])).data().reorderPostThread.posts.map(({ id }: Post) => id)).toEqual([last, two, one])
  })
})
