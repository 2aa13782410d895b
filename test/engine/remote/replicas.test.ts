import { afterEach, expect, test } from 'vitest'
import { UpstreamFailure } from '../../../router/engine/transport/exchange.ts'
import { createReplicas, notReadyStatus } from '../../../router/engine/transport/replicas.ts'
import { freePort } from '../../kit/launch.ts'
import { http, okay, type RawRequest, type RawServer, serveRaw, transportTo } from './raw-server.ts'

let open: RawServer[] = []
afterEach(async () => {
  for (const server of open) await server[Symbol.asyncDispose]()
  open = []
})
const serve = async (answer: (request: RawRequest) => void) => {
  const server = await serveRaw(answer)
  open.push(server)
  return server
}
const answers = ({ socket }: RawRequest) => void socket.write(http(okay))
const refuses = ({ socket }: RawRequest) => void socket.write(http('{"code":"NOT_READY"}', `${notReadyStatus} Service Unavailable`))
const cuts = ({ socket }: RawRequest) => void socket.destroy()
const nobody = async () => `http://127.0.0.1:${await freePort()}/graphql`
const name = { data: { name: 'x' } }

test('work goes to each in turn', async () => {
  const servers = [await serve(answers), await serve(answers)]
  await using remote = transportTo(servers.map(({ url }) => url))
  for (let question = 0; question < 10; question++) expect(await remote.ask()).toMatchObject(name)
  expect(servers.map(({ requests }) => requests.length)).toEqual([5, 5])
})

test.for(['query', 'mutation'] as const)('a %s goes to the other when one cannot be reached, or says that it is not ready', async kind => {
  const [draining, well] = [await serve(refuses), await serve(answers)]
  await using remote = transportTo([await nobody(), draining.url, well.url])
  for (let question = 0; question < 10; question++) expect(await remote.ask(kind)).toMatchObject(name)
  expect(well.requests).toHaveLength(10)
  // Asked once and then left alone for a while.
  expect(draining.requests.length).toBeLessThanOrEqual(2)
})

test('a query whose connection broke is asked of the other; a mutation, which may have been done, is not', async () => {
  const [broken, well] = [await serve(cuts), await serve(answers)]
  const urls = [broken.url, well.url]
  for (let turn = 0; turn < 2; turn++) {
    await using queries = transportTo(turn ? urls : [...urls].reverse())
    expect(await queries.ask('query')).toMatchObject(name)
  }
  let failed = 0
  for (let turn = 0; turn < 2; turn++) {
    await using mutations = transportTo(turn ? urls : [...urls].reverse())
    const before = well.requests.length
    await mutations.ask('mutation').catch(error => {
      failed++
      expect(error).toMatchObject({ stage: 'cut' })
      expect(well.requests.length).toBe(before)
    })
  }
  expect(failed).toBe(1)
})

test('where nobody can be reached the failure says so', async () => {
  await using remote = transportTo([await nobody(), await nobody()])
  await expect(remote.ask()).rejects.toMatchObject({ stage: 'unsent' })
})

const down = async (): Promise<never> => {
  throw new UpstreamFailure('unsent', 'nobody listens')
}

test('one that cannot be reached is tried again after a quarter of a second, then after twice as long, five seconds in the end', async () => {
  let now = 0
  const replicas = createReplicas(['a', 'b'], () => now)
  const tries: number[] = []
  for (; now < 20_000; now += 50)
    await replicas.ask(async url => {
      if (url === 'b') return
      tries.push(now)
      await down()
    })
  const pauses = tries.slice(1).map((at, index) => at - tries[index]!)
  expect(pauses.every((pause, index) => pause >= Math.min(5_000, 250 * 2 ** index))).toBe(true)
  expect(pauses.at(-1)).toBeLessThan(5_200)
  // Once it answers it is one of both again.
  now += 5_000
  const asked: string[] = []
  for (let question = 0; question < 4; question++) await replicas.ask(async url => void asked.push(url))
  expect(asked.filter(url => url === 'a')).toHaveLength(2)
})

test('what has more under way gets less', async () => {
  const replicas = createReplicas(['slow', 'quick'])
  const asked: string[] = []
  const held = Promise.withResolvers<void>()
  const ask = () =>
    replicas.ask(async url => {
      asked.push(url)
      if (url === 'slow') await held.promise
    })
  const both = [ask(), ask()]
  for (let question = 0; question < 8; question++) await ask()
  expect(asked.filter(url => url === 'slow')).toHaveLength(1)
  held.resolve()
  await Promise.all(both)
})

test('what does not answer in time three times in turn is left alone', async () => {
  const late = createReplicas(['late', 'well'], () => 0)
  let given = 0
  for (let question = 0; question < 40; question++)
    await late
      .ask(async url => {
        if (url === 'well') return
        given++
        throw new UpstreamFailure('late', 'No answer within 10 ms')
      })
      .catch(() => {})
  expect(given).toBe(3)
})
