import { expect, test } from 'vitest'
import { createFactDoor, createRemoteCarrier } from '../../router/apart/facts.ts'
import { serveSubgraph } from '../../router/apart/server.ts'
import { freePort, until } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'
import { factStage, subjectOf } from './stage.ts'

test('distributed: a receiver that starts later gets its facts over HTTP; a message with another secret is rejected', async () => {
  await using stage = await factStage()
  await using graph = await supergraph()
  const port = await freePort()
  const urls = new Map([['publishing', [`http://127.0.0.1:${port}/graphql`]]])
  const carrier = createRemoteCarrier({ urls, secret: 'shared', clock: stage.clock })
  const stranger = createRemoteCarrier({ urls, secret: 'another', clock: stage.clock })
  stage.way = carrier.carry
  await stage.start()
  await stage.write({ subject: subjectOf(1), name: 'first' }, { subject: subjectOf(2), name: 'second' })
  const waiting = 'select failure from identity.facts where delivered_at is null'
  await until('it was tried', async () => (await stage.sql<{ failure: string | null }>(waiting)).every(({ failure }) => failure !== null))
  expect(await stage.acted()).toEqual([])

  const facts = createFactDoor({ slug: 'publishing', receive: stage.receiver.receive, secret: 'shared', clock: stage.clock })
  const seals = { read: () => Promise.reject(new Error('no seal is asked for')), streaming: () => Promise.reject(new Error('no stream')) }
  const server = await serveSubgraph({
    subgraph: graph.platform.publishing,
    seals: seals as never,
    facts,
    host: '127.0.0.1',
    port,
    publicUrl: '',
    readiness: [],
    log: graph.job.log,
  })
  try {
    const fact = { id: subjectOf(9), from: 'identity', kind: 'organization.created', subject: 'x', at: stage.clock.now(), body: {} }
    await expect(stranger.carry('publishing', fact)).rejects.toThrow('publishing answered 401 to a fact')
    expect(await carrier.carry('publishing', fact)).toEqual({ refused: expect.stringMatching(/its body is not that of/) })
    await stage.clock.run(30_000)
    await until('all is delivered', async () => (await stage.sql(waiting)).length === 0)
    expect((await stage.acted()).map(([, name]) => name).sort()).toEqual(['first', 'second'])
  } finally {
    await Promise.all([carrier.close(), stranger.close(), server.close()])
  }
})
