/**
 * Program with a model that costs almost nothing: OpenAI's protocol with prepared answers. A request with `seed: 1` is
 * streamed at a fixed pace, one chunk to every open stream each tick; others get all chunks at once. It reports its
 * port.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const tickMs = 20
export const chunksAtOnce = 20
export const chunksPaced = 300

const frame = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_800_000_000, model: 'gpt-5-mini', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const word = Buffer.from(frame({ content: ' another' }))
const usage = { prompt_tokens: 12, completion_tokens: 20, total_tokens: 32 }
const last = Buffer.from(
  `${frame({}, 'stop')}data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_800_000_000, model: 'gpt-5-mini', choices: [], usage })}\n\ndata: [DONE]\n\n`,
)
const whole = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_800_000_000,
    model: 'gpt-5-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: ' another'.repeat(20), refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage,
  }),
)

const paced = new Map<ServerResponse, number>()
setInterval(() => {
  for (const [response, sent] of paced) {
    if (sent === chunksPaced) {
      paced.delete(response)
      response.end(last)
    } else {
      response.write(word)
      paced.set(response, sent + 1)
    }
  }
}, tickMs)

function atOnce(response: ServerResponse, sent = 0): void {
  if (sent === chunksAtOnce) return void response.end(last)
  response.write(word)
  setImmediate(atOnce, response, sent + 1)
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  // A credential that is new is tried by what lists models.
  if (request.method !== 'POST') return response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}')
  const parts: Buffer[] = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    const { stream, seed } = JSON.parse(Buffer.concat(parts).toString()) as { readonly stream?: boolean; readonly seed?: number }
    if (!stream) return response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length }).end(whole)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (seed !== 1) return atOnce(response)
    paced.set(response, 0)
    response.on('close', () => paced.delete(response))
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
