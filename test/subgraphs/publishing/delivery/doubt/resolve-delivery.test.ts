import { describe, expect, test } from 'vitest'
import { archiveBrand, reschedulePost, resolveDelivery } from '../../documents.ts'
import { answeredPost, stored, wake } from '../delivering.ts'

/** A post whose outcome nobody knows. */
const begin = async () => {
  const world = await answeredPost({ fault: 'status', status: 500, times: 10 })
  const { graph, owner, post } = world
  const resolve = (platformPostId: string | null, id = post.id) => graph.execute(resolveDelivery, { input: { id, platformPostId } }, { as: owner })
  return { ...world, resolve }
}
const open = { status: 'FAILED', deliveryPhase: 'UNKNOWN', platformPostId: null, failure: { code: 'OUTCOME_UNKNOWN' } }

describe('resolveDelivery', () => {
  test('with the network’s id publishes the post, and the audit names the person', async () => {
    const { graph, owner, post } = await begin()
    await using _ = graph
    const answer = await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: '1234567890' } }, { as: owner })
    expect(answer.data().resolveDelivery).toMatchObject({ status: 'PUBLISHED', deliveryPhase: 'NONE', platformPostId: '1234567890', failure: null })
    expect(await graph.rows(`select actor from publishing.audit_entries where action = 'post.published'`)).toEqual([{ actor: `user:${owner.userId}` }])
  })

  test('with null marks the post as not delivered: it can be rescheduled', async () => {
    const { graph, owner, post } = await begin()
    await using _ = graph
    const answer = await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: null } }, { as: owner })
    expect(answer.data().resolveDelivery).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', failure: { code: 'NOT_DELIVERED' } })
    expect((await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon() } }, { as: owner })).data().reschedulePost.status).toBe(
      'SCHEDULED',
    )
  })

  test('accepts only a network id, for a post with unknown outcome, of the caller’s organization', async () => {
    const { graph, story, owner, post, read } = await begin()
    await using _ = graph
    const { post: draft, outsider } = await story.outsider().post()
    for (const platformPostId of ['', 'not-a-number', '12345678901234567890', '1; drop table', 'https://x.com/a/status/1'])
      (await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId } }, { as: owner })).refused('BAD_USER_INPUT')
    for (const platformPostId of ['1', null]) {
      ;(await graph.execute(resolveDelivery, { input: { id: draft.id, platformPostId } }, { as: owner })).refused('CONFLICT')
      ;(await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId } }, { as: outsider })).refused('NOT_FOUND')
    }
    expect(await read()).toMatchObject(open)
  })

  test('succeeds for one of two concurrent calls', async () => {
    const { graph, owner, post } = await begin()
    await using _ = graph
    const answers = await Promise.all(
      ['1', null].map(platformPostId => graph.execute(resolveDelivery, { input: { id: post.id, platformPostId } }, { as: owner })),
    )
    expect(answers.filter(({ partial }) => partial.errors.length === 0)).toHaveLength(1)
  })

  test('shows where the post is: at the account that sent it, and without a name when that connection is gone', async () => {
    const { graph, resolve, story, connection } = await begin()
    await using _ = graph
    expect((await resolve('1234567890')).data().resolveDelivery.permalink).toBe(`https://x.com/${connection.accountName.replace('@', '')}/status/1234567890`)
    const { post } = await story.post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'UNKNOWN' })
    await graph.rows('delete from publishing.connections')
    expect((await resolve('987', post.id)).data().resolveDelivery.permalink).toBe('https://x.com/i/status/987')
  })

  test('of a post with a known outcome returns that outcome, whatever the input', async () => {
    const { graph, resolve } = await begin()
    await using _ = graph
    await resolve('1')
    for (const said of ['2', 'not-a-number', null]) expect((await resolve(said)).refused('CONFLICT').extensions).toMatchObject({ status: 'PUBLISHED' })
  })

  test('names the mistakes of its input', async () => {
    const { graph, resolve } = await begin()
    await using _ = graph
    expect((await resolve('1', 'not-an-id')).refused('BAD_USER_INPUT').extensions.field).toBe('id')
    expect((await resolve('not-a-number')).refused('BAD_USER_INPUT').extensions.field).toBe('platformPostId')
    ;(graph.job.networks as Map<string, unknown>).delete('X')
    expect((await resolve('1')).refused('BAD_USER_INPUT').extensions.field).toBe('platformPostId')
  })

  test('rejects an id that another post of the account has; database errors are reported differently', async () => {
    const { graph, resolve, story, read } = await begin()
    await using _ = graph
    const { post: other } = await story.post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, other)
    await resolve('1', other.id)
    expect((await resolve('1')).refused('CONFLICT').extensions.field).toBe('platformPostId')
    await graph.rows(`alter table publishing.audit_entries add constraint none check (action <> 'post.published') not valid`)
    ;(await resolve('2')).refused('INTERNAL_SERVER_ERROR')
    expect(await read()).toMatchObject(open)
  })

  test('changes nothing of a brand that is archived', async () => {
    const { graph, resolve, owner, brand, read } = await begin()
    await using _ = graph
    ;(await graph.execute(archiveBrand, { input: { id: brand.id } }, { as: owner })).data()
    for (const said of ['1', null]) expect((await resolve(said)).refused('CONFLICT').extensions.reason).toBe('BRAND_ARCHIVED')
    expect(await read()).toMatchObject(open)
  })
})
