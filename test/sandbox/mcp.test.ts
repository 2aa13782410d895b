import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { type Stage, send, stage } from './stage.ts'

async function connect({ sandbox }: Stage) {
  const headers = { 'x-service-id': 'service-1', 'x-app-id': 'app_agents', 'x-organization-id': 'organization-1' }
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${sandbox.origin}/mcp`), { requestInit: { headers } })
  await client.connect(transport as Parameters<Client['connect']>[0])
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}
const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=mcp`)).body

describe('the sandbox’s MCP server', () => {
  it('lists its tools to the official client, with schemas and annotations', async () => {
    await using world = await stage()
    await using client = await connect(world)
    expect(client.getServerVersion()).toMatchObject({ name: 'sandbox' })
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.idempotentHint])).toEqual([
      ...[
        ['create_note', false, true],
        ['send_letter', false, false],
        ['read_notes', true, undefined],
        ['purge', false, undefined],
      ],
      ['refuse', false, undefined],
    ])
    await client.ping()
  })

  it('creates a note once for each key, sends a letter each time, and records callers', async () => {
    await using world = await stage()
    await using client = await connect(world)
    await client.listTools()
    const create = (text: string, idempotencyKey: string) => client.callTool({ name: 'create_note', arguments: { text }, _meta: { idempotencyKey } })
    const first = await create('one', 'key-1')
    expect(first.structuredContent).toEqual({ id: expect.any(String), text: 'one' })
    expect((await create('one', 'key-1')).structuredContent).toEqual(first.structuredContent)
    expect((await create('two', 'key-1')).isError).toBe(true)
    const letter = () => client.callTool({ name: 'send_letter', arguments: { to: 'ada', text: 'hello' }, _meta: { idempotencyKey: 'key-2' } })
    expect((await letter()).structuredContent).not.toEqual((await letter()).structuredContent)
    expect((await client.callTool({ name: 'read_notes', arguments: { query: 'on' } })).structuredContent).toEqual({ notes: [first.structuredContent] })
    const calls = await received(world)
    expect(calls.map(({ tool }: { tool: string }) => tool)).toEqual(['create_note', 'send_letter', 'send_letter'])
    expect(calls[0]).toEqual({
      ...{ receivedAt: world.clock.now().toISOString(), tool: 'create_note', text: 'one', arguments: { text: 'one' }, idempotencyKey: 'key-1' },
      ...{ serviceId: 'service-1', appId: 'app_agents', organizationId: 'organization-1' },
    })
    await client.callTool({ name: 'purge', arguments: {} })
    expect((await client.callTool({ name: 'read_notes', arguments: { query: '' } })).structuredContent).toEqual({ notes: [] })
  })

  it('rejects an unknown tool, wrong arguments, another transport and foreign pages', async () => {
    await using world = await stage()
    await using client = await connect(world)
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow('Unknown tool')
    expect((await client.callTool({ name: 'create_note', arguments: { text: 1 } })).isError).toBe(true)
    expect((await client.callTool({ name: 'create_note', arguments: { text: 'x', colour: 'red' } })).isError).toBe(true)
    expect((await client.callTool({ name: 'refuse', arguments: {} })).isError).toBe(true)
    const good = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const ask = async (headers: Record<string, string>, method = 'POST', body = '{"jsonrpc":"2.0","id":1,"method":"ping"}') =>
      (await send(`${world.sandbox.origin}/mcp`, { method, headers: { ...good, ...headers }, ...(method === 'POST' && { body }) })).status
    expect(await ask({})).toBe(200)
    expect(await ask({}, 'GET')).toBe(405)
    expect(await ask({ accept: 'application/json' })).toBe(406)
    expect(await ask({ 'content-type': 'text/plain' })).toBe(415)
    expect(await ask({ 'mcp-protocol-version': '2020-01-01' })).toBe(400)
    expect(await ask({ origin: 'https://evil.example' })).toBe(403)
    expect(await ask({}, 'POST', '{')).toBe(400)
    expect(await received(world)).toEqual([])
  })

  it('executes nothing, or answers nothing, by a fault; reads use up none', async () => {
    await using world = await stage()
    await using client = await connect(world)
    const create = (options = {}) =>
      client.callTool({ name: 'create_note', arguments: { text: 'one' }, _meta: { idempotencyKey: 'key-1' } }, undefined, options)
    await world.arm({ network: 'mcp', fault: 'status', status: 503 })
    await client.callTool({ name: 'read_notes', arguments: { query: '' } })
    await expect(create()).rejects.toMatchObject({ code: 503 })
    expect(await received(world)).toEqual([])
    await world.arm({ network: 'mcp', fault: 'timeout-after-accept' })
    await expect(create({ timeout: 200 })).rejects.toThrow('timed out')
    expect((await create()).structuredContent).toMatchObject({ text: 'one' })
    expect(await received(world)).toHaveLength(1)
  })
})
