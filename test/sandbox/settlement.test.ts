import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { type Stage, send, stage } from './stage.ts'

const hash = `sha256:${'a'.repeat(64)}`

/** Somebody who takes decisions, and verifies them by the library of Standard Webhooks. */
async function receiver() {
  const taken: { readonly headers: Record<string, string>; readonly body: string }[] = []
  const server = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join('')
    taken.push({ headers: request.headers as Record<string, string>, body })
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    taken,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/decisions`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function signed({ sandbox, clock }: Stage, path: string, body = '', { method = 'POST', secret = sandbox.endpoints['settlement-policy'].secret, age = 0 } = {}) {
  const at = new Date(clock.now().getTime() - age * 1000)
  const headers = {
    ...{ 'content-type': 'application/json', 'webhook-id': 'msg_1', 'webhook-timestamp': String(at.getTime() / 1000) },
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  }
  return send(`${sandbox.origin}/settlement${path}`, { method, headers, ...(method === 'POST' && { body }) })
}

const requestFor = (counterparty: string, callbackUrl: string, id = counterparty) =>
  JSON.stringify({
    ...{ id, organizationId: 'organization-1', counterparty, action: { connector: 'c1', tool: 'create_note', arguments: { text: 'x' } } },
    ...{ actionHash: hash, purpose: null, requestedBy: 'user:1', callbackUrl, expiresAt: '2026-03-02T12:00:00.000Z' },
  })

const control = ({ sandbox }: Stage, body: object) =>
  send(`${sandbox.origin}/_control/emit`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'settlement', event: 'policy-decision', ...body }) },
  })
const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=settlement`)).body

describe('the sandbox’s settlement and policy service', () => {
  it('accepts callbacks with a valid signature only, and shows them unchanged', async () => {
    await using world = await stage()
    const { secret } = world.sandbox.endpoints['settlement-callbacks']
    const body = '{ "type": "settlement_batch.settled" }'
    expect((await signed(world, '/callbacks', body, { secret })).status).toBe(204)
    expect((await signed(world, '/callbacks', body)).status).toBe(401)
    expect((await signed(world, '/callbacks', body, { secret, age: 301 })).status).toBe(401)
    await world.arm({ network: 'settlement', fault: 'status', status: 500 })
    expect((await signed(world, '/callbacks', body, { secret })).status).toBe(500)
    expect(await received(world)).toEqual([
      {
        ...{ receivedAt: world.clock.now().toISOString(), path: '/settlement/callbacks', id: 'msg_1', text: body },
        ...{ timestamp: String(world.clock.now().getTime() / 1000), signature: expect.stringMatching(/^v1,/) },
      },
    ])
  })

  it.each([
    ['allow.peer', 'allow', 1],
    ['deny.peer', 'deny', 1],
    ['hold.peer', 'hold', 1],
    ['poll.peer', 'allow', 0],
    ['silence.peer', 'pending', 0],
  ])('decides for %s: %s, with %i callbacks', async (counterparty, decision, count) => {
    await using world = await stage()
    await using here = await receiver()
    const body = requestFor(counterparty, here.url)
    expect(await signed(world, '/v1/policy-requests', body)).toMatchObject({ status: 202, body: { id: counterparty, decision: 'pending' } })
    expect((await signed(world, '/v1/policy-requests', body)).status).toBe(202)
    await expect.poll(() => here.taken).toHaveLength(count)
    const { secret } = world.sandbox.endpoints['settlement-policy']
    for (const { headers, body: text } of here.taken) {
      const said = { type: 'policy.decided', data: { id: counterparty, decision, actionHash: hash } }
      expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(String(headers['webhook-id']), world.clock.now(), text))
      expect(JSON.parse(text)).toMatchObject(said)
    }
    expect((await signed(world, `/v1/policy-requests/${counterparty}`, '', { method: 'GET' })).body).toMatchObject({
      id: counterparty,
      decision,
      actionHash: hash,
    })
    expect(await received(world)).toMatchObject([{ path: '/settlement/v1/policy-requests', text: body }])
  })

  it('refuses requests that are unsigned, incomplete, unknown, or changed', async () => {
    await using world = await stage()
    const ask = async (body: string, options = {}) => (await signed(world, '/v1/policy-requests', body, options)).status
    const body = requestFor('silence.peer', 'http://127.0.0.1:9/')
    expect(await ask(body, { secret: `whsec_${Buffer.alloc(32).toString('base64')}` })).toBe(401)
    expect(await ask(body, { age: 301 })).toBe(401)
    expect(await ask('{}')).toBe(400)
    expect(await ask(requestFor('nobody.peer', 'http://127.0.0.1:9/'))).toBe(400)
    expect(await ask(body)).toBe(202)
    expect(await ask(requestFor('silence.peer', 'http://127.0.0.1:8/'))).toBe(409)
    expect((await signed(world, '/v1/policy-requests/none', '', { method: 'GET' })).status).toBe(404)
  })

  it('decides on request, several times at once; an invalid signature decides nothing', async () => {
    await using world = await stage()
    await using here = await receiver()
    await signed(world, '/v1/policy-requests', requestFor('silence.peer', here.url, 'one'))
    const decision = async () => (await signed(world, '/v1/policy-requests/one', '', { method: 'GET' })).body.decision
    expect((await control(world, { id: 'one', decision: 'allow', signature: 'bad' })).body).toEqual({ statuses: [204] })
    expect((await control(world, { id: 'one', decision: 'allow', ageSeconds: 600 })).body).toEqual({ statuses: [204] })
    expect(await decision()).toBe('pending')
    expect((await control(world, { id: 'one', decision: 'allow', times: 3 })).body).toEqual({ statuses: [204, 204, 204] })
    expect(await decision()).toBe('allow')
    await control(world, { id: 'one', decision: 'deny' })
    expect(await decision()).toBe('allow')
    expect((await control(world, { id: 'two', decision: 'allow' })).status).toBe(400)
  })
})
