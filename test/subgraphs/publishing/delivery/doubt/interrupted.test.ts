import { describe, expect, test } from 'vitest'
import { sendMs } from '../../../../../subgraphs/publishing/stores/pace.ts'
import { deletePost, updatePost } from '../../documents.ts'
import { duePost, interrupt, round, scheduledPost, stored, texts, wake } from '../delivering.ts'
import { publication } from '../publication.ts'

/** A post whose worker died after X had accepted the call and before the outcome was written. */
async function interrupted() {
  const world = await duePost()
  const { graph, post, connection } = world
  const { job } = graph
  await interrupt(world)
  const call = await job.networks.get('X')!.publish(
    publication({
      accessToken: job.connections.open(connection).accessToken,
      account: { externalId: connection.externalAccountId, name: connection.accountName },
      copy: post.copy,
    }),
  )
  expect(call.outcome).toBe('delivered')
  return world
}

describe('P-10 a call interrupted by a crash after X had accepted it', () => {
  test('prevents editing and deleting while X does not list the post, so that it is neither published twice nor lost', async () => {
    const { graph, post, owner } = await interrupted()
    await using _ = graph
    await graph.x.arm({ fault: 'listing-lag', delayMs: 60_000, times: 1 })
    await graph.clock.advance(sendMs)
    await round(graph)
    ;(await graph.execute(updatePost, { input: { id: post.id, copy: 'Another text' } }, { as: owner })).refused('CONFLICT')
    ;(await graph.execute(deletePost, { input: { id: post.id } }, { as: owner })).refused('CONFLICT')
    await wake(graph, post)
    await graph.clock.advance(5_000)
    await round(graph)
    expect(await texts(graph)).toEqual([post.copy])
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', copy: post.copy })
  })

  test('stays open when the second call is rejected for another reason, which says nothing about the first', async () => {
    const { graph, post, owner } = await interrupted()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 429 })
    await graph.x.arm({ fault: 'listing-lag', delayMs: 60_000, times: 1 })
    await graph.clock.advance(sendMs)
    await round(graph)
    await graph.x.arm()
    ;(await graph.execute(updatePost, { input: { id: post.id, copy: 'Another text', scheduledAt: graph.clock.soon(600_000) } }, { as: owner })).refused(
      'CONFLICT',
    )
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN' })
    await graph.clock.advance(5_000)
    await round(graph)
    expect(await texts(graph)).toEqual([post.copy])
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED' })
  })

  test('is taken up although the clock was set back by an hour since', async () => {
    const { graph, post } = await interrupted()
    await using _ = graph
    await graph.clock.advance(-3_600_000)
    await round(graph)
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED' })
    expect(await texts(graph)).toEqual([post.copy])
  })

  test('is left to its worker while the claim lasts, though that clock is a minute ahead', async () => {
    const { graph, post } = await interrupted()
    await using _ = graph
    await graph.clock.advance(-59_000)
    await round(graph)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'SENDING' })
  })

  test('is published once, according to X, also when X lists its posts late: the second call is rejected as a duplicate and X is asked', async () => {
    const { graph, post } = await interrupted()
    await using _ = graph
    await graph.x.arm({ fault: 'listing-lag', delayMs: 60_000, times: 100 })
    for (let seconds = 0; seconds < 180; seconds += 5) {
      await graph.clock.advance(5_000)
      await round(graph)
      await wake(graph, post)
    }
    expect(
      graph.sent.filter(call => call.startsWith('POST /x/2/tweets')),
      'calls that create a post',
    ).toHaveLength(2)
    expect(await texts(graph)).toEqual([post.copy])
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', failureCode: null })
  })
})

describe('P-09 a connection whose tokens cannot be decrypted', () => {
  test('keeps its posts waiting for the key, and fails them with a reason after an hour', async () => {
    const { graph, post, connection } = await scheduledPost()
    await using _ = graph
    await graph.database.sequelize.query(`update publishing.connections set access_token = replace(access_token, 'v1.', 'v1.lost-') where id = $1`, {
      bind: [connection.id],
    })
    for (let minutes = 0; minutes < 62; minutes += 1) {
      await graph.clock.advance(60_000)
      await round(graph)
      if (minutes === 55) expect((await stored(graph, post)).status).toBe('SCHEDULED')
    }
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', failureMessage: expect.stringContaining('encryption key') })
  })
})
