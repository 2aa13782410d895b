import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a vendor was asked. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** A vendor of models on loopback: it takes the keys that it is told, and answers others 401. */
export interface PlayedVendor extends AsyncDisposable {
  readonly origin: string
  readonly asked: readonly Asked[]
  /** Keys that it takes; or the status that it answers everybody with. */
  takes: readonly string[] | number
  /** It answers once that is through. @default at once */
  hold: () => Promise<void>
}

export async function playVendor(...takes: string[]): Promise<PlayedVendor> {
  const asked: Asked[] = []
  const vendor = { takes: takes as PlayedVendor['takes'], asked, hold: async () => {} }
  const server = createServer(async (request, response) => {
    asked.push({ method: request.method!, path: request.url!, headers: request.headers })
    await vendor.hold()
    const key = request.headers.authorization?.replace('Bearer ', '') ?? String(request.headers['x-api-key'] ?? '')
    const status = typeof vendor.takes === 'number' ? vendor.takes : vendor.takes.includes(key) ? 200 : 401
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(status === 200 ? { data: [] } : { error: { message: `Incorrect API key provided:\n ${key}` } }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(vendor, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  })
}
