import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves a bare HTTP server for contenders without their own: answers a query's text with a JSON text. */
export function serve(answer: (query: string) => Promise<string>): void {
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', async () => {
      try {
        const text = await answer(JSON.parse(body).query)
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }).end(text)
      } catch (error) {
        console.error(error)
        response.writeHead(500).end()
      }
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
  process.on('disconnect', () => process.exit())
}
