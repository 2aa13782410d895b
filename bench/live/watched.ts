import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { load } from '../load/load.ts'
import { measuredCore, type Running, said, start } from '../processes.ts'
import { query } from '../shop/graph.ts'
import type { Row } from '../table.ts'
import { check, exactCpuOf } from './counted.ts'
import { writeShop } from './graph.ts'

const here = (path: string) => `${import.meta.dirname}/${path}`
export const watches = { none: 'nobody watches', figures: 'metrics', traces: 'metrics and traces, one of ten kept' } as const
type Watch = keyof typeof watches

/** Measured operations: one of usual size, and workload 1, whose answer has 87 kB. */
export const asked = {
  small: '{ topProducts { upc name inStock reviews { body author { name } } } }',
  large: query,
} as const

/** Requests before the measurement, and the minimum of one round. */
const [warmUp, least] = [5000, 200]

interface Started {
  readonly watch: Watch
  readonly server: Running
  readonly port: number
  readonly samples: number[]
}

/**
 * Measures the cost of observability: the same router with and without, in alternating rounds. Rounds are short and
 * many, so that each has a comparable neighbour.
 */
export async function measureWatched(operation: keyof typeof asked, rounds: number): Promise<readonly Row[]> {
  let spans = 0
  const collector = createServer((request, response) => {
    let text = ''
    request.on('data', part => {
      text += part
    })
    request.on('end', () => {
      spans += text.split('"spanId"').length - 1
      response.end('{}')
    })
  })
  await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  await using stack = new AsyncDisposableStack()
  stack.defer(() => void collector.close())
  const started: Started[] = []
  const body = JSON.stringify({ query: asked[operation] })
  let expected: Buffer | null = null
  for (const watch of Object.keys(watches) as Watch[]) {
    const nodeOptions = watch === 'none' ? ['--import', here('without-figures.ts')] : []
    const server = stack.use(start(here('watched-serve.ts'), [writeShop('http://localhost'), watch, endpoint], { core: measuredCore, nodeOptions }))
    const { port } = await said<{ port: number }>(server)
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const answer = Buffer.from(await (await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', body, headers })).arrayBuffer())
    expected ??= answer
    check('bytes of an answer that differ', expected.compare(answer), 0)
    started.push({ watch, server, port, samples: [] })
  }
  const ask = (port: number, milliseconds: number) => load({ port, path: '/graphql', body, connections: 20, milliseconds, expected: expected! })
  // So many that all of it is compiled, however little of its core a process gets.
  for (const { port } of started) for (let answers = 0; answers < warmUp; ) answers += (await ask(port, 500)).answers
  for (let round = 0; round < rounds; round++)
    // In turn forwards and backwards: who is first in a round is last in the next.
    for (const { server, port, samples } of round % 2 === 0 ? started : started.toReversed()) {
      const before = exactCpuOf(server.child.pid!)
      let answered = 0
      while (answered < least) {
        const { answers, bad } = await ask(port, 300)
        check('wrong answers', bad, 0)
        answered += answers
      }
      samples.push(((exactCpuOf(server.child.pid!) - before) * 1000) / answered)
    }
  if (spans === 0) throw new Error('no span reached the collector')
  return started.map(({ watch, samples }) => ({ name: watches[watch], samples }))
}
