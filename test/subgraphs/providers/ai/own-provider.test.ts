import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { seedCredential } from '../credential/seed.ts'
import { aiWorld } from './world.ts'

const secret = 'sk-Zx9-of-their-own-provider'

/** A provider of an organization's own that answers as it likes. */
async function ownProvider(answer: (authorization: string) => { readonly status: number; readonly body: unknown }) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { status, body } = answer(String(request.headers.authorization))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = await aiWorld({ trusts: [origin] })
  onTestFinished(() => world[Symbol.asyncDispose]())
  const { id } = await seedCredential(world.graph, { organizationId: world.owner.organizationId!, provider: 'custom', name: 'own', secret })
  await world.graph.rows('update providers.credentials set base_url = $2 where id = $1', [id, `${origin}/v1`])
  return world
}

test.each([400, 422])('what a provider says against a request with status %i never repeats the secret that it was asked with', async status => {
  const world = await ownProvider(authorization => ({
    status,
    body: { error: { message: `${'Long words. '.repeat(30)} Not with ${authorization}, that is ${secret}`, param: authorization } },
  }))
  for (const stream of [false, true]) {
    const answer = await world.chat('Hello', { model: 'own/any', stream }, { headers: { 'x-gateway-fallback': 'off' } })
    const text = await answer.text()
    expect(answer.status).toBe(400)
    expect(text).toContain('Long words.')
    expect(text).not.toContain('sk-')
  }
})

test('a provider that counts beyond all measure keeps no call from its end, and holds nothing back', async () => {
  const world = await ownProvider(() => ({
    status: 200,
    body: {
      ...{ id: 'one', object: 'chat.completion', created: 1, model: 'any' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1e300, completion_tokens: Number.MAX_SAFE_INTEGER },
    },
  }))
  const answer = await world.chat('Hello', { model: 'own/any' }, { headers: { 'x-gateway-fallback': 'off' } })
  expect(answer.status).toBe(200)
  expect(await world.callOf(answer)).toMatchObject({ status: 'SUCCEEDED', input_tokens: 2_000_000_000, output_tokens: 2_000_000_000 })
})
