/**
 * Program for the theoretical limit: forwards requests and pipes answers, unread. Argument: the origin of the model.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { Agent, request } from 'undici'

const origin = process.argv[2]!
const dispatcher = new Agent({ connections: 512 })
const server = createServer({ keepAliveTimeout: 600_000 }, async (asked, response) => {
  const parts: Buffer[] = []
  for await (const part of asked) parts.push(part as Buffer)
  const headers = { 'content-type': 'application/json', authorization: asked.headers.authorization ?? '' }
  const answer = await request(`${origin}${asked.url}`, { method: 'POST', headers, body: Buffer.concat(parts), dispatcher })
  // A client may have left meanwhile.
  answer.body.on('error', () => undefined)
  if (response.destroyed) return void answer.body.destroy()
  response.writeHead(answer.statusCode, { 'content-type': answer.headers['content-type'] as string })
  pipeline(answer.body, response, () => undefined)
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
