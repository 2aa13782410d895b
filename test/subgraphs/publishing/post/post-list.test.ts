import { describe, expect, test } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { posts } from '../documents.ts'

const list = async (graph: Supergraph, as: Viewer, variables: object = {}) => (await graph.execute(posts, { ...variables }, { as })).data().posts
const ids = (page: { nodes: { id: string }[] }) => page.nodes.map(({ id }) => id)

async function walk(graph: Supergraph, as: Viewer, first: number, variables: object = {}, between: (page: number) => Promise<unknown> = async () => {}) {
  const seen: string[] = []
  let after: string | null = null
  for (let page = 1; ; page += 1) {
    const { edges, pageInfo } = await list(graph, as, { ...variables, first, after })
    expect(edges.length).toBeLessThanOrEqual(first)
    expect(pageInfo.hasPreviousPage).toBe(after !== null)
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null])
    seen.push(...edges.map(({ node }: { node: { id: string } }) => node.id))
    if (!pageInfo.hasNextPage) return seen
    after = pageInfo.endCursor
    await between(page)
  }
}

describe('P-05 listing posts', () => {
  test('newest first, or as the thread has them', async () => {
    await using graph = await supergraph()
    const { owner, thread, posts: alone } = await graph.seed.owner().brand().thread(3).posts(2)
    const inThread = thread.map(({ id }) => id)
    expect(ids(await list(graph, owner))).toEqual([...inThread, ...alone.map(({ id }) => id)].reverse())
    expect(ids(await list(graph, owner, { threadId: thread[0]!.threadId }))).toEqual(inThread)
    expect((await list(graph, owner)).totalCount).toBe(5)
  })

  test('has pages that together contain every post exactly once, also when all were written in the same millisecond', async () => {
    await using graph = await supergraph()
    const { owner, posts: written } = await graph.seed.owner().brand().posts(23)
    await graph.rows('update publishing.posts set created_at = $1', [graph.clock.now()])
    for (const first of [1, 2, 5, 7, 23, 100]) expect((await walk(graph, owner, first)).sort(), `pages of ${first}`).toEqual(written.map(({ id }) => id).sort())
  })

  test('has stable pages while others write', async () => {
    await using graph = await supergraph()
    const story = graph.seed.owner().brand().posts(12)
    const { owner, posts: written } = await story
    const seen = await walk(graph, owner, 3, {}, async page => {
      await graph.clock.advance(1000)
      await story.post({ copy: `written behind page ${page}` })
    })
    expect(seen).toEqual(written.map(({ id }) => id).reverse())
    expect((await list(graph, owner)).totalCount).toBeGreaterThan(12)
  })

  test('in pages of a thread, in its order, also when its posts are written between', async () => {
    await using graph = await supergraph()
    const { owner, thread } = await graph.seed.owner().brand().thread(7)
    expect(await walk(graph, owner, 2, { threadId: thread[0]!.threadId })).toEqual(thread.map(({ id }) => id))
  })

  test('narrowed by brand, status, network, author and time, and by several together', async () => {
    await using graph = await supergraph({ sandbox: true })
    const at = (minutes: number) => graph.clock.in(minutes * 60_000)
    const story = graph.seed
      .owner()
      .member()
      .brand('One')
      .post({ scheduledAt: at(1) })
    const { owner, member, brand: one, post: soon } = await story
    const { post: later } = await story.post({ scheduledAt: at(10) })
    const { post: theirs } = await story.post({ by: member })
    const failure = { status: 'FAILED' as const, failureCode: 'NO_CONNECTION', failureMessage: 'none', failedAt: graph.clock.now() }
    const { post: failed } = await story.post({ row: failure })
    const { brand: two, post: elsewhere } = await story.brand('Two').post({ platform: 'THREADS' })
    const found = async (variables: object) => ids(await list(graph, owner, variables)).sort()
    const expected = (...rows: { id: string }[]) => rows.map(({ id }) => id).sort()
    expect(await found({ brandId: one.id })).toEqual(expected(soon, later, theirs, failed))
    expect(await found({ brandId: two.id })).toEqual(expected(elsewhere))
    expect(await found({ status: 'FAILED' })).toEqual(expected(failed))
    expect(await found({ status: 'SCHEDULED' })).toEqual(expected(soon, later))
    expect(await found({ platform: 'THREADS' })).toEqual(expected(elsewhere))
    expect(await found({ authorId: member.userId })).toEqual(expected(theirs))
    expect(await found({ scheduledAfter: at(1).toISOString(), scheduledBefore: at(10).toISOString() })).toEqual(expected(soon))
    expect(await found({ scheduledAfter: at(1).toISOString() })).toEqual(expected(soon, later))
    expect(await found({ status: 'SCHEDULED', authorId: member.userId })).toEqual([])
    expect(await found({ brandId: one.id, status: 'DRAFT', platform: 'X', authorId: member.userId })).toEqual(expected(theirs))
  })

  test('of the active organization only, whatever the filter names', async () => {
    await using graph = await supergraph()
    const { brand, post, outsider } = await graph.seed.owner().outsider().brand().post()
    for (const variables of [{}, { brandId: brand.id }, { threadId: post.threadId }, { authorId: post.authorId }])
      expect(await list(graph, outsider, variables)).toMatchObject({ nodes: [], totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } })
  })

  test('never by a cursor that is not of this list', async () => {
    await using graph = await supergraph()
    const { owner, thread } = await graph.seed.owner().brand().thread(2)
    const { pageInfo } = await list(graph, owner, { first: 1 })
    const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const after of [
      '',
      'nonsense',
      forged('posts.newest', "'; drop table publishing.posts; --", 'x'),
      forged('posts.newest', graph.clock.soon()),
      `${pageInfo.endCursor}x`,
    ])
      expect((await graph.execute(posts, { after }, { as: owner })).refused('BAD_USER_INPUT').extensions.field, after).toBe('after')
    ;(await graph.execute(posts, { after: pageInfo.endCursor, threadId: thread[0]!.threadId }, { as: owner })).refused('BAD_USER_INPUT')
    for (const first of [0, -1, 101]) (await graph.execute(posts, { first }, { as: owner })).refused('BAD_USER_INPUT')
  })
})
