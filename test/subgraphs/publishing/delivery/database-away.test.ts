import { expect, test, vi } from 'vitest'
import type { Network } from '../../../../subgraphs/publishing/network/network.ts'
import { administer, serverUrl } from '../../../kit/run/template.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { duePost, stored, texts, wake } from './delivering.ts'

/** Cuts every connection to the database and refuses new ones, until what comes back is called. */
async function refuse({ database }: Supergraph): Promise<() => Promise<void>> {
  const name = new URL(database.url).pathname.slice(1)
  await administer(serverUrl(), `alter database ${name} with allow_connections false`)
  await administer(serverUrl(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  return () => administer(serverUrl(), `alter database ${name} with allow_connections true`)
}

/** Lets the database go away while the network thinks about a post, until its answer could not be written. */
function awayInTheCall(graph: Supergraph): Promise<void> {
  const back = Promise.withResolvers<void>()
  const x = graph.job.networks.get('X')!
  const { publish } = x
  Object.assign(x, {
    publish: async (publication: Parameters<Network['publish']>[0]) => {
      const answer = await publish(publication)
      const restore = await refuse(graph)
      const failed = () => graph.log.filter(line => line.includes('could not be stored; it will be retried')).length
      vi.waitFor(() => expect(failed()).toBeGreaterThan(0), { timeout: 5_000, interval: 20 })
        .finally(restore)
        .then(back.resolve, back.reject)
      return answer
    },
  })
  back.promise.catch(() => {})
  return back.promise
}

const calls = ({ sent }: Supergraph) => sent.filter(call => call.startsWith('POST /x/2/tweets'))

test.each([
  ['a yes', undefined, { status: 'PUBLISHED', deliveryPhase: 'NONE', attempts: 1 }, 'POST /x/2/tweets 201'],
  ['a no', { fault: 'status', status: 400 }, { status: 'FAILED', deliveryPhase: 'NONE', failureCode: 'CONTENT_REFUSED', attempts: 1 }, 'POST /x/2/tweets 400'],
] as const)('P-10 %s that comes while the database is away is kept, and written when it is back: one call was made', async (_what, fault, state, call) => {
  const { graph, post } = await duePost()
  await using _ = graph
  if (fault) await graph.x.arm(fault)
  const back = awayInTheCall(graph)
  await wake(graph, post)
  await back
  expect(await stored(graph, post)).toMatchObject(state)
  expect([calls(graph), (await texts(graph)).length]).toEqual([[call], fault ? 0 : 1])
  expect(await graph.rows('select number, outcome from publishing.attempts')).toEqual([{ number: 1, outcome: fault ? 'REFUSED' : 'DELIVERED' }])
})
