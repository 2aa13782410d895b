import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWanted } from '../siege.ts'
import { besiege, type Demo, startDemo, type Tenant } from './world.ts'

/** How long the vendor takes for calls of the attacker, in ms, and how long those give it. */
const [slowMs, timeoutMs] = [1_500, 500]

/** A vendor with OpenAI's wire: slow for who asks slow things, at once for others. */
async function openVendor(): Promise<Server> {
  const message = { role: 'assistant', content: 'well', refusal: null }
  const answer = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_800_000_000,
    model: 'gpt-5-mini',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 2, total_tokens: 14 },
  })
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', part => (body += part))
    request.on('end', () => {
      const say = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      if (body.includes('slowly')) setTimeout(say, slowMs)
      else say()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

describe.skipIf(!isWanted)('model calls with too little time', () => {
  let vendor: Server
  let demo: Demo
  beforeAll(async () => {
    vendor = await openVendor()
    const origin = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
    // The demo platform's credential, which both organizations use.
    demo = await startDemo({ OPENAI_API_URL: `${origin}/v1`, OUTBOUND_ALLOW: origin })
  }, 120_000)
  afterAll(async () => {
    await demo?.[Symbol.asyncDispose]()
    vendor?.closeAllConnections()
    vendor?.close()
  })

  const call = async ({ headers }: Tenant, content: string, more: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${demo.url}/providers/api/ai/chat/completions`, {
      method: 'POST',
      headers: { ...headers('providers'), 'content-type': 'application/json', 'x-gateway-fallback': 'off', ...more },
      body: JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content }] }),
    })
    return { status: answer.status, attempts: answer.headers.get('x-gateway-attempts'), text: await answer.text() }
  }

  it('never put the vendor in cooldown for another organization on the same credential', { timeout: 120_000 }, async () => {
    const ask = async () => {
      const { status, attempts, text } = await call(demo.polite, 'say well')
      return status === 200 && attempts === '1' ? null : `${status} after ${attempts} attempts: ${text.slice(0, 200)}`
    }
    const statuses = new Map<number, number>()
    const hurry = (overAt: number) =>
      Promise.all(
        Array.from({ length: 12 }, async () => {
          while (performance.now() < overAt) {
            const { status } = await call(demo.hostile, 'answer slowly', { 'x-gateway-timeout-ms': String(timeoutMs) })
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        }),
      )
    const { peace, during } = await besiege({ ask, everyMs: 30 }, hurry)
    console.log(
      [
        '| calls in a hurry | answers of the polite client | p99 before | during |',
        '| --- | --- | --- | --- |',
        `| ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')} | ${during.asked}, ${during.wrong.length} wrong | ${peace.p99.toFixed(1)} ms | ${during.p99.toFixed(1)} ms |`,
      ].join('\n'),
    )
    expect([...statuses.keys()], 'the hurried calls end by their own time-out').toEqual([502])
    expect([...peace.wrong, ...during.wrong], 'the polite client was answered otherwise').toEqual([])
    expect(during.p99).toBeLessThanOrEqual(2 * peace.p99 + 50)
  })
})
