import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A network that takes posts as X does, after a moment, and knows when each came. */
export interface Receiving extends AsyncDisposable {
  readonly origin: string
  /** Arrival times of each text, in ms of `Date.now()`. */
  readonly received: ReadonlyMap<string, readonly number[]>
}

/** Delay in ms before an answer. */
const thinksMs = 30

/** Serves X's address for posts only: `POST /2/tweets`. Its cost is not counted. */
export async function startNetwork(): Promise<Receiving> {
  const received = new Map<string, number[]>()
  let posts = 0
  const server = createServer(async (request, response) => {
    const at = Date.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { text } = JSON.parse(body || '{}') as { text?: string }
    if (text === undefined) return void response.writeHead(404).end()
    received.set(text, [...(received.get(text) ?? []), at])
    await wait(thinksMs)
    posts += 1
    const headers = { 'content-type': 'application/json', 'x-rate-limit-limit': '100000', 'x-rate-limit-remaining': String(100_000 - (posts % 90_000)) }
    response
      .writeHead(201, { ...headers, 'x-rate-limit-reset': String(Math.floor(at / 1000) + 900) })
      .end(JSON.stringify({ data: { id: `${at}${posts}`, text } }))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
}
