import { expect, test } from 'vitest'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import { dies } from '../../../kit/dies.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { attempts, duePost, round, stored, texts, wake } from './delivering.ts'

// test/chaos kills whole processes at these points. Here the end is an error that undoes what is not committed, as the kill does:
// quick enough to look at what each leaves behind.

const outcomes = async (graph: Supergraph) => (await attempts(graph)).map(({ outcome }) => outcome)

test.each([
  ['after-claim', { status: 'SCHEDULED', deliveryPhase: 'CLAIMED', attempts: 0 }, [], 0],
  ['after-attempt-row', { status: 'SCHEDULED', deliveryPhase: 'SENDING', attempts: 1 }, [null], 0],
  ['after-call', { status: 'SCHEDULED', deliveryPhase: 'SENDING', attempts: 1 }, [null], 1],
  ['in-conclusion', { status: 'SCHEDULED', deliveryPhase: 'SENDING', attempts: 1 }, [null], 1],
  ['after-conclusion', { status: 'PUBLISHED', deliveryPhase: 'NONE', attempts: 1 }, ['DELIVERED'], 1],
] as const)('P-10 a crash %s leaves the post as %o, and it is published once', async (point, state, left, received) => {
  const { graph, post } = await duePost()
  await using _ = graph
  await dies(point, () => wake(graph, post))
  expect(await stored(graph, post)).toMatchObject(state)
  expect([await outcomes(graph), (await texts(graph)).length]).toEqual([left, received])
  await graph.clock.advance(sendMs)
  if (state.deliveryPhase === 'SENDING') {
    await wake(graph, post)
    expect(await stored(graph, post), 'only whoever asks the network may go on').toMatchObject(state)
  }
  await round(graph)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[post.copy], 'PUBLISHED'])
})

test('P-10 after a crash while a post is released it counts as interrupted, and is published once', async () => {
  const { graph, post } = await duePost()
  await using _ = graph
  {
    await using _away = await graph.x.away()
    await dies('in-put-back', () => wake(graph, post))
  }
  expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'SENDING', waitsUntil: null })
  expect(await outcomes(graph)).toEqual([null])
  await graph.clock.advance(sendMs)
  await round(graph)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[post.copy], 'PUBLISHED'])
})
