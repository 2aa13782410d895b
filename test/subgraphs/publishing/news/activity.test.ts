import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kindOf } from '../../../../subgraphs/publishing/stores/news/activity.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'
import { createPost, deletePost, updatePost } from '../documents.ts'

let graph: Supergraph
let owner: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  const world = await graph.seed.owner().outsider()
  owner = world.owner
  outsider = world.outsider
})
afterAll(() => graph[Symbol.asyncDispose]())

const aBrand = async () => (await seedBrand(graph, { organizationId: owner.organizationId! })).id
const document = `query($brandId: ID!, $first: Int, $after: String) { brandActivities(brandId: $brandId, first: $first, after: $after) {
  nodes { id at kind user { id } postId post { copy } connectionId } pageInfo { hasNextPage endCursor } totalCount } }`
const happened = async (brandId: string, more: object = {}) => (await graph.execute(document, { brandId, ...more }, { as: owner })).data().brandActivities
const live = 'subscription($brandId: ID!) { brandActivity(brandId: $brandId) { kind userId postId post { copy } } }'
const write = async (brandId: string, copy: string) =>
  (await graph.execute(createPost, { input: { brandId, platform: 'X', copy } }, { as: owner })).data().createPost.id

describe('what happens in a brand', () => {
  test('has an entry for each change, the latest first, with its author and result', async () => {
    const brandId = await aBrand()
    const id = await write(brandId, 'Hello')
    await graph.clock.advance(10)
    ;(await graph.execute(updatePost, { input: { id, copy: 'Bye' } }, { as: owner })).data()
    await graph.clock.advance(10)
    const other = await write(brandId, 'Other')
    await graph.clock.advance(10)
    ;(await graph.execute(deletePost, { input: { id: other } }, { as: owner })).data()
    const user = { id: owner.userId }
    const { nodes, totalCount } = await happened(brandId)
    expect(nodes).toMatchObject([
      { kind: 'POST_DELETED', user, postId: other, post: null },
      { kind: 'POST_CREATED', user, postId: other, post: null },
      { kind: 'POST_CHANGED', user, postId: id, post: { copy: 'Bye' } },
      { kind: 'POST_CREATED', user, postId: id, post: { copy: 'Bye' }, connectionId: null },
    ])
    expect(totalCount).toBe(4)
    const first = await happened(brandId, { first: 3 })
    expect((await happened(brandId, { first: 3, after: first.pageInfo.endCursor })).nodes).toEqual(nodes.slice(3))
  })

  test('keeps its order within one millisecond', async () => {
    const brandId = await aBrand()
    const written: string[] = []
    for (const copy of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) written.push(await write(brandId, copy))
    const { nodes } = await happened(brandId)
    expect(new Set(nodes.map(({ at }: { at: string }) => at)).size).toBe(1)
    expect(nodes.map(({ postId }: { postId: string }) => postId)).toEqual(written.toReversed())
  })

  test('is sent to subscribers after the commit, and not for rejected changes or to other organizations', async () => {
    const brandId = await aBrand()
    const follower = await graph.subscribe(live, { brandId }, { as: owner })
    const refused = await graph.refusedSubscription(live, { brandId }, { as: outsider })
    refused.refused('NOT_FOUND')
    ;(await graph.execute(createPost, { input: { brandId, platform: 'X', copy: 'x', threadId: brandId } }, { as: owner })).refused('NOT_FOUND')
    const id = await write(brandId, 'Live')
    expect((await follower.next()).brandActivity).toEqual({ kind: 'POST_CREATED', userId: owner.userId, postId: id, post: { copy: 'Live' } })
    expect(follower.events.length).toBe(1)
    await follower.end()
  })

  test('costs the same statements for three entries and for ten', async () => {
    const brandId = await aBrand()
    const ask = () => graph.statements(() => happened(brandId))
    for (let made = 0; made < 3; made += 1) await write(brandId, `Post ${made}`)
    const few = await ask()
    for (let made = 3; made < 10; made += 1) await write(brandId, `Post ${made}`)
    expect((await ask()).length).toBe(few.length)
  })

  test.each([
    ['post.created', 'POST_CREATED'],
    ['post.not-delivered', 'POST_STATUS'],
    ['post.approved', 'POST_APPROVAL'],
    ['post.whatever_comes', 'POST_CHANGED'],
    ['connection.authorized', 'CONNECTION'],
    ['brand.paused', 'BRAND'],
    ['campaign.deleted', 'CAMPAIGN'],
    ['calendar_feed.created', null],
    ['constructor.name', null],
  ])('%s of the record is shown as %s', (action, kind) => expect(kindOf(action)).toBe(kind))
})
