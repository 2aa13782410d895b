import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { each } from '../../../../subgraphs/publishing/post/bulk/bulk.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const mutate = (name: string, fields: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`
const update = mutate('updatePost', 'id version copy title')
const restore = mutate('restorePostVersion', 'id version copy title')
const versions = 'query($id: ID!) { post(id: $id) { versions { version copy title link createdAt author { id } target { externalId } mediaIds } } }'

const edit = async (as: Viewer, input: object) => (await graph.execute(update, { input }, { as })).data().updatePost
const versionsOf = async (as: Viewer, id: string) =>
  (await graph.execute(versions, { id }, { as })).data().post.versions as { version: number; copy: string; title: string | null }[]

describe('versions of a post', () => {
  test('are the states of its content, the newest first; another time or tag creates none', async () => {
    const { owner, post } = await graph.seed.owner().brand().post({ copy: 'One' })
    await edit(owner, { id: post.id, copy: 'Two', title: 'A title' })
    await edit(owner, { id: post.id, tags: ['a tag'] })
    await edit(owner, { id: post.id, scheduledAt: graph.clock.in(3_600_000).toISOString() })
    await edit(owner, { id: post.id, copy: 'Three' })
    expect(await versionsOf(owner, post.id)).toMatchObject([
      { version: 5, copy: 'Three', title: 'A title', author: { id: owner.userId }, mediaIds: [] },
      { version: 2, copy: 'Two', title: 'A title' },
      { version: 1, copy: 'One', title: null },
    ])
  })

  test('are restored as an update; a missing one is NOT_FOUND', async () => {
    const { owner, post } = await graph.seed.owner().brand().post({ copy: 'One' })
    await edit(owner, { id: post.id, copy: 'Two', title: 'A title' })
    expect((await graph.execute(restore, { input: { id: post.id, version: 1 } }, { as: owner })).data().restorePostVersion).toMatchObject({
      version: 3,
      copy: 'One',
      title: null,
    })
    expect((await versionsOf(owner, post.id)).map(({ copy }) => copy)).toEqual(['One', 'Two', 'One'])
    const gone = await graph.execute(restore, { input: { id: post.id, version: 7 } }, { as: owner })
    expect(gone.refused('NOT_FOUND').extensions).toMatchObject({ field: 'version', id: post.id })
    const stale = await graph.execute(restore, { input: { id: post.id, version: 2, expectedVersion: 1 } }, { as: owner })
    expect(stale.refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
  })

  test('of a post older than this feature are its present state, and from its next change on both', async () => {
    const { owner, post } = await graph.seed.owner().brand().post({ copy: 'Old' })
    await graph.rows('delete from publishing.post_versions where post_id = $1', [post.id])
    expect(await versionsOf(owner, post.id)).toMatchObject([{ version: 1, copy: 'Old' }])
    await edit(owner, { id: post.id, copy: 'New' })
    expect((await versionsOf(owner, post.id)).map(({ version, copy }) => [version, copy])).toEqual([
      [2, 'New'],
      [1, 'Old'],
    ])
  })

  test('are the last fifty, and go with the post', async () => {
    const { owner, post } = await graph.seed.owner().brand().post({ copy: 'Text 1' })
    for (let number = 2; number <= 53; number += 1) await edit(owner, { id: post.id, copy: `Text ${number}` })
    const kept = await versionsOf(owner, post.id)
    expect([kept.length, kept[0]!.copy, kept.at(-1)!.copy]).toEqual([50, 'Text 53', 'Text 4'])
    expect(await graph.rows('select version from publishing.post_versions where post_id = $1', [post.id]), 'no more are stored').toHaveLength(50)
    await graph.execute(mutate('deletePost', 'id'), { input: { id: post.id } }, { as: owner }).then(answer => answer.data())
    expect(await graph.rows('select version from publishing.post_versions where post_id = $1', [post.id])).toEqual([])
  })
})

describe('several posts at once', () => {
  const reschedule = mutate('reschedulePosts', 'succeeded failed results { id post { status } error { code message } }')
  const remove = mutate('deletePosts', 'succeeded failed results { id error { code } }')

  test('are changed each on its own', async () => {
    const { owner, posts } = await graph.seed.owner().brand().posts(3)
    const { post: theirs } = await graph.seed.owner().brand().post()
    const ids = [...posts.map(({ id }) => id), theirs.id]
    const scheduledAt = graph.clock.in(3_600_000).toISOString()
    const items = ids.map((id, at) => ({ id, scheduledAt, ...(at === 1 && { expectedVersion: 999 }) }))
    const moved = (await graph.execute(reschedule, { input: { items } }, { as: owner })).data().reschedulePosts
    expect(moved).toMatchObject({ succeeded: 2, failed: 2 })
    expect(moved.results.map(({ post, error }: { post: { status: string } | null; error: { code: string } | null }) => post?.status ?? error?.code)).toEqual([
      'SCHEDULED',
      'CONFLICT',
      'SCHEDULED',
      'NOT_FOUND',
    ])
    const gone = (await graph.execute(remove, { input: { items: ids.map(id => ({ id })) } }, { as: owner })).data().deletePosts
    expect(gone).toMatchObject({ succeeded: 3, failed: 1 })
    expect(await graph.rows('select id from publishing.posts where id = any($1::uuid[])', [ids])).toEqual([{ id: theirs.id }])
  })

  test('one of which fails with an internal error is reported without the error’s text, which is logged, and the others succeed', async () => {
    const accident = new Error('relation "secret" does not exist')
    const logged: unknown[] = []
    const log = { error: (line: { err: unknown }) => logged.push(line.err) } as unknown as Parameters<typeof each>[0]['log']
    const { post } = await graph.seed.owner().brand().post()
    const { results, succeeded, failed } = await each({ log }, [{ id: 'a' }, { id: 'b' }], async ({ id }) => (id === 'a' ? Promise.reject(accident) : post))
    expect(results).toMatchObject([
      { id: 'a', post: null, error: { code: 'INTERNAL_SERVER_ERROR', message: expect.not.stringContaining('secret') } },
      { id: 'b', post: { id: post.id }, error: null },
    ])
    expect([succeeded, failed, logged]).toEqual([1, 1, [accident]])
  })

  test('are 1 to 100', async () => {
    const { owner, post } = await graph.seed.owner().brand().post()
    for (const count of [0, 101]) {
      const items = Array.from({ length: count }, () => ({ id: post.id }))
      expect((await graph.execute(remove, { input: { items } }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe('items')
    }
  })
})
