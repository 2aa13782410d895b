import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBytesInFlight } from '../../../router/engine/data/in-flight.ts'
import { codesOf, until } from '../supergraph-fixture.ts'
import { type RemoteGraph, remoteGraph } from './remote-graph.ts'

const mebibyte = 1024 * 1024
const claim = { caller: 'ada', organization: 'castle' }
const inFlight = createBytesInFlight({ ofCaller: 8 * mebibyte, ofOrganization: 12 * mebibyte, all: 16 * mebibyte })
const sdl = 'type Query { text: String, other: String } type Mutation { write: String }'
const head = '{"data":{"text":"'

let graph: RemoteGraph
beforeAll(async () => {
  graph = await remoteGraph({ library: { sdl } }, { inFlight, deduplicate: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

/** Has the subgraph answer so much of a text, and the rest when it is let go. */
function answering(first: number, rest: number, before = head) {
  const held: (() => void)[] = []
  graph.servers.library!.fault = (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.write(before + 'x'.repeat(first))
    held.push(() => response.end(`${'x'.repeat(rest)}"}}`))
  }
  return held
}

describe('bytes of answers of subgraphs', () => {
  it('count as they arrive, and are held until the answer is made', async () => {
    const held = answering(3 * mebibyte, mebibyte)
    const answer = graph.run('{ text }', {}, { claim })
    await until(() => inFlight.total > 2.9 * mebibyte)
    held[0]!()
    expect((await answer).data.text).toHaveLength(4 * mebibyte)
    expect(inFlight.total).toBe(0)
  })

  it('end the operation and the subgraph request with RATE_LIMITED when their caller holds too many', async () => {
    const held = answering(5 * mebibyte, 1)
    const first = graph.run('{ text }', {}, { claim })
    await until(() => inFlight.total > 4.9 * mebibyte)
    const abandoned = graph.servers.library!.abandoned
    const second = await graph.run('{ other: text }', {}, { claim })
    expect([second.data, codesOf(second)]).toEqual([null, ['RATE_LIMITED']])
    await until(() => graph.servers.library!.abandoned === abandoned + 1)
    held[0]!()
    expect((await first).data.text).toHaveLength(5 * mebibyte + 1)
    expect(inFlight.total).toBe(0)
  })

  it('count for each operation that waits for one shared answer, and are released when one of them leaves', async () => {
    const held = answering(mebibyte, 1)
    const client = new AbortController()
    const first = graph.run('{ text }', {}, { claim, signal: client.signal })
    await until(() => inFlight.total > 0.9 * mebibyte)
    const second = graph.run('{ text }', {}, { claim })
    await until(() => inFlight.total > 1.8 * mebibyte)
    expect(held).toHaveLength(1)
    client.abort()
    expect(codesOf(await first)).toEqual(['UPSTREAM_FAILED'])
    await until(() => inFlight.total < 1.1 * mebibyte)
    held[0]!()
    expect((await second).data.text).toHaveLength(mebibyte + 1)
    expect(inFlight.total).toBe(0)
  })

  it('count two for each character of non-ASCII text once the answer is complete', async () => {
    graph.servers.library!.fault = (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(`${head}${'文'.repeat(3 * mebibyte)}"}}`)
    }
    // Nine MiB on the way.
    const refused = await graph.run('{ text }', {}, { claim })
    expect([refused.data, codesOf(refused)]).toEqual([null, ['OPERATION_TOO_EXPENSIVE']])
    expect(inFlight.total).toBe(0)
  })

  it('of a mutation are accepted whatever its caller holds, because it was done', async () => {
    const held = answering(7 * mebibyte, 1)
    const first = graph.run('{ text }', {}, { claim })
    await until(() => inFlight.total > 6.9 * mebibyte)
    const written = answering(3 * mebibyte, 1, '{"data":{"write":"')
    const second = graph.run('mutation { write }', {}, { claim })
    await until(() => written.length === 1)
    written[0]!()
    expect((await second).data.write).toHaveLength(3 * mebibyte + 1)
    held[0]!()
    await first
    expect(inFlight.total).toBe(0)
  })

  it('are released when the subgraph breaks off', async () => {
    graph.servers.library!.fault = (_request, response) => {
      response.write(head + 'x'.repeat(mebibyte), () => response.destroy())
    }
    expect(codesOf(await graph.run('{ text }', {}, { claim }))).toEqual(['UPSTREAM_FAILED'])
    expect(inFlight.total).toBe(0)
  })
})
