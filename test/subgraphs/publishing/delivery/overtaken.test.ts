import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { failPost, releaseForRetry } from '../../../../subgraphs/publishing/delivery/conclude.ts'
import { beginWithinMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { duePost, interrupt, round, stored, texts, wake } from './delivering.ts'

/** Lets the first call of the network reach it and keeps what it answered, until that is let through. */
const keepAnswer = (graph: Supergraph, call: 'publish' | 'refresh') => {
  const x = graph.job.networks.get('X')!
  const original = x[call] as (argument: unknown) => Promise<unknown>
  const [answered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const keeping = async (argument: unknown) => {
    Object.assign(x, { [call]: original })
    const answer = await original(argument)
    answered.resolve()
    await gate.promise
    return answer
  }
  Object.assign(x, { [call]: keeping })
  return { answered: answered.promise, letThrough: gate.resolve }
}

const asks = ({ sent }: Supergraph) => sent.filter(call => call.startsWith('GET /x/2/users/')).length

describe('P-10 a worker that lost its claim', () => {
  test('neither fails nor releases the post, which another worker has', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    const { answered, letThrough } = keepAnswer(graph, 'publish')
    const other = wake(graph, post)
    await answered
    const theirs = await stored(graph, post)
    expect(theirs).toMatchObject({ deliveryPhase: 'SENDING' })
    const mine = { ...theirs, claimId: newId() }
    await failPost(graph.job, mine, 'CONNECTION_EXPIRED', 'gone')
    await releaseForRetry(graph.job, mine, null, 'away')
    expect(await stored(graph, post)).toEqual(theirs)
    letThrough()
    await other
    expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[post.copy], 'PUBLISHED'])
  })

  test('keeps its claim while it renews a rejected token: nobody asks the network about the post meanwhile', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'expired-token' })
    const first = keepAnswer(graph, 'publish')
    const renewal = keepAnswer(graph, 'refresh')
    const slow = wake(graph, post)
    await first.answered
    await graph.clock.advance(10_000)
    first.letThrough()
    await renewal.answered
    await graph.clock.advance(sendMs - 1_000)
    await round(graph)
    expect(asks(graph)).toBe(0)
    renewal.letThrough()
    await slow
    expect([await texts(graph), await stored(graph, post)]).toMatchObject([[post.copy], { status: 'PUBLISHED', attempts: 1 }])
  })
})

describe('P-10 an answer that arrives after another worker took the post up', () => {
  /** The call has reached the network, its answer is kept, and the time of its worker is over. */
  const late = async () => {
    const world = await duePost()
    const { answered, letThrough } = keepAnswer(world.graph, 'publish')
    const slow = wake(world.graph, world.post)
    await answered
    await world.graph.clock.advance(sendMs)
    return { ...world, slow, letThrough }
  }

  test('is recorded: a post that the network reports as delivered is published at once', async () => {
    const { graph, post, slow, letThrough } = await late()
    await using _ = graph
    await graph.x.arm({ fault: 'listing-lag', delayMs: 60_000, times: 100 })
    await round(graph)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'UNKNOWN', attempts: 2 })
    letThrough()
    await slow
    const [received] = await graph.x.published()
    expect([await texts(graph), await stored(graph, post)]).toMatchObject([
      [post.copy],
      { status: 'PUBLISHED', platformPostId: received!.id, failureCode: null },
    ])
  })

  test('changes nothing when the other worker has published the post, and is logged', async () => {
    const { graph, post, slow, letThrough } = await late()
    await using _ = graph
    await round(graph)
    const published = await stored(graph, post)
    expect(published).toMatchObject({ status: 'PUBLISHED', attempts: 1 })
    letThrough()
    await slow
    expect(await stored(graph, post)).toEqual(published)
    expect(graph.log.filter(line => line.includes('had marked as not published'))).toHaveLength(1)
  })
})

test('P-10 an interrupted call is not repeated after the round’s time: the next round does it', async () => {
  const { graph, post, connection } = await duePost()
  await using _ = graph
  await interrupt({ graph, post, connection }, { forMs: 0 })
  const { attempts } = graph.job
  const { begin: record } = attempts
  Object.assign(attempts, {
    begin: async (...parameters: Parameters<typeof record>) => {
      const attempt = await record(...parameters)
      await graph.clock.advance(beginWithinMs + 1)
      return attempt
    },
  })
  await round(graph)
  expect([await texts(graph), await stored(graph, post)]).toMatchObject([[], { status: 'SCHEDULED', deliveryPhase: 'SENDING' }])
  Object.assign(attempts, { begin: record })
  await graph.clock.advance(sendMs)
  await round(graph)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[post.copy], 'PUBLISHED'])
})
