import { describe, expect, test } from 'vitest'
import { timeoutMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import { monday } from '../../../kit/time.ts'
import { reschedulePost, updatePost } from '../documents.ts'
import { attempts, duePost, interrupt, round, stored, texts, twoHours, wake } from './delivering.ts'

const waiting = { status: 'SCHEDULED', deliveryPhase: 'NONE', failure: null }

describe('P-09 an unreachable network', () => {
  test('at a post’s time, and three seconds later can: the post is sent once, as its first attempt', async () => {
    const { graph, post, read } = await duePost()
    await using _ = graph
    {
      await using _away = await graph.x.away()
      await wake(graph, post)
      expect(await read()).toMatchObject({ ...waiting, waitsUntil: graph.clock.soon(5_000) })
      await graph.clock.advance(3_000)
      await Promise.all([wake(graph, post), round(graph)])
      expect(await read()).toMatchObject(waiting)
    }
    await graph.clock.advance(2_000)
    await wake(graph, post)
    expect(await read()).toMatchObject({ status: 'PUBLISHED', waitsUntil: null, failure: null })
    expect(await texts(graph)).toEqual([post.copy])
    expect(await attempts(graph)).toMatchObject([{ number: 1, outcome: 'DELIVERED' }])
  })

  test('is tried three times within 20 s, then less often, but at least once a minute; after an hour the post fails and can be rescheduled', async () => {
    const { graph, owner, post, read } = await duePost()
    await using _ = graph
    const from = graph.clock.now().getTime()
    const tried: number[] = []
    {
      await using _away = await graph.x.away()
      for (let row = await stored(graph, post); row.status === 'SCHEDULED' && tried.length < 100; row = await stored(graph, post)) {
        if (row.waitsUntil) await graph.clock.advance(row.waitsUntil.getTime() - graph.clock.now().getTime())
        tried.push((graph.clock.now().getTime() - from) / 1000)
        await wake(graph, post)
      }
    }
    expect(tried.slice(0, 7)).toEqual([0, 5, 15, 35, 75, 135, 195])
    expect(tried.at(-1)).toBe(timeoutMs / 1000)
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', waitsUntil: null, failure: { code: 'NETWORK_UNAVAILABLE', attempts: 1 } })
    expect(await attempts(graph)).toMatchObject([{ number: 1, outcome: 'NOT_SENT' }])
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    await wake(graph, post)
    expect([await texts(graph), await attempts(graph)]).toMatchObject([
      [post.copy],
      [
        { number: 1, outcome: 'NOT_SENT' },
        { number: 2, outcome: 'DELIVERED' },
      ],
    ])
  })

  test('leaves a waiting post editable: the edited text is sent, and a new time ends the waiting', async () => {
    const { graph, owner, post, read } = await duePost()
    await using _ = graph
    {
      await using _away = await graph.x.away()
      await wake(graph, post)
      await graph.execute(updatePost, { input: { id: post.id, copy: 'Edited while it waited' } }, { as: owner })
      expect(await read()).toMatchObject({ ...waiting, waitsUntil: graph.clock.soon(5_000) })
      await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(20_000) } }, { as: owner })
      expect(await read()).toMatchObject({ ...waiting, waitsUntil: null })
    }
    await graph.clock.advance(20_000)
    await wake(graph, post)
    expect(await texts(graph)).toEqual(['Edited while it waited'])
  })

  test('during the renewal of a token keeps the connection, and the post waits the same way', async () => {
    const { graph, post, connection, read } = await duePost({ scheduledAt: new Date(Date.parse(monday) + twoHours) })
    await using _ = graph
    {
      await using _away = await graph.x.away()
      await wake(graph, post)
      expect(await read()).toMatchObject({ ...waiting, waitsUntil: graph.clock.soon(5_000) })
    }
    const row = await graph.job.connections.byId.load(connection.id)
    expect(row).toMatchObject({ active: true, refreshToken: connection.refreshToken })
    await graph.clock.advance(5_000)
    await round(graph)
    expect([await texts(graph), (await read()).status]).toEqual([[post.copy], 'PUBLISHED'])
  })

  test('between a rejected token and the renewed one: nothing was published, and the post waits', async () => {
    const { graph, post, read } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'expired-token' })
    const x = graph.job.networks.get('X')!
    const away = Promise.withResolvers<AsyncDisposable>()
    const { publish } = x
    // The first call is answered with 401; the network is gone when the renewal is asked for.
    Object.assign(x, {
      publish: async (publication: Parameters<typeof publish>[0]) => {
        const answer = await publish(publication)
        Object.assign(x, { publish })
        away.resolve(await graph.x.away())
        return answer
      },
    })
    await wake(graph, post)
    expect(await read()).toMatchObject(waiting)
    await (await away.promise)[Symbol.asyncDispose]()
    await graph.clock.advance(5_000)
    await wake(graph, post)
    expect([await texts(graph), (await read()).status]).toEqual([[post.copy], 'PUBLISHED'])
  })
})

/** A post whose worker died between the record of its attempt and the call: the network has nothing. */
const interrupted = async () => {
  const world = await duePost()
  await interrupt(world)
  await world.graph.clock.advance(sendMs)
  return world
}

describe('P-10 an interrupted call, while the network cannot be asked', () => {
  test('for 25 s: the post stays as it is, and is sent once when the network does not have it', async () => {
    const { graph, post, owner, read } = await interrupted()
    await using _ = graph
    {
      await using _away = await graph.x.away()
      for (let seconds = 0; seconds < 25; seconds += 5) {
        await round(graph)
        await graph.clock.advance(5_000)
        expect(await read()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'SENDING', waitsUntil: expect.any(String) })
      }
      ;(await graph.execute(updatePost, { input: { id: post.id, copy: 'Other' } }, { as: owner })).refused('CONFLICT')
    }
    await graph.clock.advance(sendMs)
    await round(graph)
    expect(await read()).toMatchObject({ status: 'PUBLISHED', waitsUntil: null })
    expect(await texts(graph)).toEqual([post.copy])
  })

  test('stays so for an hour at most: then its outcome is unknown, and a person may resolve it', async () => {
    const { graph, read } = await interrupted()
    await using _ = graph
    await using _away = await graph.x.away()
    for (let minutes = 0; minutes < 59; minutes += 1) {
      await round(graph)
      await graph.clock.advance(60_000)
    }
    expect(await read()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'SENDING' })
    await graph.clock.advance(60_000)
    await round(graph)
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failure: { code: 'OUTCOME_UNKNOWN' } })
  })

  test('or the call repeated: what was not sent the second time is sent once when the network is back', async () => {
    const { graph, post, read } = await interrupted()
    await using _ = graph
    const x = graph.job.networks.get('X')!
    const { find } = x
    const away = Promise.withResolvers<AsyncDisposable>()
    Object.assign(x, {
      find: async (...parameters: Parameters<typeof find>) => {
        const lookup = await find(...parameters)
        Object.assign(x, { find })
        away.resolve(await graph.x.away())
        return lookup
      },
    })
    await round(graph)
    expect(await read()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'SENDING' })
    await (await away.promise)[Symbol.asyncDispose]()
    await graph.clock.advance(sendMs)
    await round(graph)
    expect([await texts(graph), (await read()).status, await attempts(graph)]).toMatchObject([
      [post.copy],
      'PUBLISHED',
      [
        { number: 1, outcome: 'NOT_DELIVERED' },
        { number: 2, outcome: 'DELIVERED' },
      ],
    ])
  })
})
