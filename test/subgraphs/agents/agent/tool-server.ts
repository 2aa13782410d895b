import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of tools that does as it likes. */
export interface ToolServer extends AsyncDisposable {
  readonly origin: string
  /** How many calls of `hang` wait. */
  waiting(): number
  /** Has the calls of `hang` answered that wait. */
  release(): void
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly name: string }
}

const names = ['echo_headers', 'hang', 'count']
const describe = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, annotations: { idempotentHint: false } })
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })

/** Starts a server of the Model Context Protocol with `echo_headers`, which repeats what it is sent, `hang`, which waits, and `count`. */
export async function toolServer(): Promise<ToolServer> {
  const waiting: (() => void)[] = []
  let called = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { id, method, params } = JSON.parse(Buffer.concat(parts).toString() || '{}') as Message
    const send = (result: object) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end()
    if (method === 'initialize')
      return send({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'of a test', version: '1.0.0' } })
    if (method === 'tools/list') return send({ tools: names.map(describe) })
    if (method !== 'tools/call') return send({})
    called += 1
    if (params!.name === 'hang') return waiting.push(() => send(text('Done late.')))
    return send(text(params!.name === 'count' ? `${called}` : JSON.stringify(request.headers)))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>(resolve => server.listen(0, resolve))
  return {
    ...{ origin: `http://localhost:${(server.address() as AddressInfo).port}` },
    waiting: () => waiting.length,
    release() {
      for (const each of waiting.splice(0)) each()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
