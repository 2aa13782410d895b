import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const fields = 'id name kind counterparty baseUrl status message checkedAt version tools { name inputSchema permission risk readOnly idempotent }'
const mutation = (name: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`

/** An owner, the sandbox's server, and what is done with connectors. */
async function shop(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const tries = (name: string, input: object, as: Viewer = owner) => graph.execute(mutation(name), { input }, { as })
  const does = async (name: string, input: object) => (await tries(name, input)).data()[name]
  const address = `${graph.x.origin}/mcp`
  const control = async (path: string, body?: object) =>
    (
      await fetch(`${graph.x.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    ).json()
  const create = (more: object = {}) => does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: address, ...more })
  return { owner, outsider, tries, does, address, control, create }
}

describe('a connector', () => {
  it('is created untested, and has the tools of its server after a check, with permissions by what they say of themselves', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, create, does } = await shop(graph)
    const made = await create({ headers: [{ name: 'Authorization', value: 'Bearer secret-of-tools' }] })
    expect(made).toMatchObject({ kind: 'MCP', status: 'UNTESTED', tools: [], version: 1 })
    const checked = await does('checkConnector', { id: made.id })
    expect(checked).toMatchObject({ status: 'HEALTHY', message: null, checkedAt: expect.any(String), version: 2 })
    expect(checked.tools.map((tool: Record<string, unknown>) => [tool.name, tool.permission, tool.risk, tool.readOnly, tool.idempotent])).toEqual([
      ['create_note', 'ASK', 'MEDIUM', false, true],
      ['send_letter', 'ASK', 'MEDIUM', false, false],
      ['read_notes', 'AUTO', 'LOW', true, false],
      ['purge', 'ASK', 'HIGH', false, false],
      ['refuse', 'ASK', 'MEDIUM', false, false],
    ])
    expect(checked.tools[0].inputSchema).toMatchObject({ type: 'object', required: ['text'] })
    const [row] = await graph.rows<{ headers: string }>('select headers from agents.connectors where id = $1', [made.id])
    expect(row!.headers).toMatch(/^v1\.test\./)
    const listed = (await graph.execute(`{ connectors { ${fields} } }`, {}, { as: owner })).data().connectors
    expect(JSON.stringify([listed, graph.log])).not.toContain('secret-of-tools')
    expect(listed.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(['MCP', 'MOBILE_APP_CATALOGUE', 'PLATFORM'])
  })

  it('keeps permissions over a check, refuses unknown tools, and is out of use until it is put back', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { create, does, tries } = await shop(graph)
    const { id } = await create()
    await does('checkConnector', { id })
    await does('updateConnector', {
      id,
      tools: [
        { name: 'purge', permission: 'DENY' },
        { name: 'create_note', permission: 'AUTO', risk: 'LOW' },
      ],
    })
    const again = await does('checkConnector', { id })
    expect(again.tools[0]).toMatchObject({ name: 'create_note', permission: 'AUTO', risk: 'LOW' })
    expect(again.tools[3]).toMatchObject({ name: 'purge', permission: 'DENY', risk: 'HIGH' })
    const unknown = (await tries('updateConnector', { id, tools: [{ name: 'no_such', permission: 'AUTO' }] })).refused('BAD_USER_INPUT')
    expect(unknown.extensions).toMatchObject({ field: 'tools[0].name' })
    const stale = (await tries('updateConnector', { id, name: 'Late', expectedVersion: 1 })).refused('CONFLICT')
    expect(stale.extensions).toMatchObject({ reason: 'STALE_VERSION' })
    expect(await does('updateConnector', { id, active: false, counterparty: 'allow.peer' })).toMatchObject({ status: 'DISABLED', counterparty: 'allow.peer' })
    const out = (await tries('checkConnector', { id })).refused('CONFLICT')
    expect(out.extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'DISABLED' })
    expect(await does('updateConnector', { id, active: true, counterparty: null })).toMatchObject({ status: 'UNTESTED', counterparty: null })
    expect(await does('deleteConnector', { id })).toMatchObject({ id })
    ;(await tries('deleteConnector', { id })).refused('NOT_FOUND')
  })

  it('is FAILING with a reason when its server does not answer, and keeps its tools', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { create, does } = await shop(graph)
    const { id } = await create()
    await does('checkConnector', { id })
    await using _ = await graph.x.away()
    const failing = await does('checkConnector', { id })
    expect(failing).toMatchObject({ status: 'FAILING', message: expect.stringContaining('connection') })
    expect(failing.tools).toHaveLength(5)
  })

  it('is FAILING when its address is no server of the protocol', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { create, does } = await shop(graph)
    const { id } = await create({ baseUrl: `${graph.x.origin}/nothing/here` })
    expect(await does('checkConnector', { id })).toMatchObject({ status: 'FAILING', message: expect.stringContaining('404'), tools: [] })
  })

  it('refuses private addresses, passwords in addresses, headers of ours, and kinds that are there by themselves', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { tries, address } = await shop(graph)
    const refusal = async (more: object) =>
      (await tries('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: address, ...more })).refused('BAD_USER_INPUT').extensions.field
    for (const baseUrl of ['http://169.254.169.254/latest', 'http://127.0.0.1:1/', 'http://[::1]:1/', 'http://localhost:1/', 'file:///etc/passwd', 'x', null])
      expect([baseUrl, await refusal({ baseUrl })]).toEqual([baseUrl, 'baseUrl'])
    expect(await refusal({ baseUrl: 'https://me:secret@tools.example/mcp' })).toBe('baseUrl')
    expect(await refusal({ kind: 'PLATFORM' })).toBe('kind')
    expect(await refusal({ kind: 'MOBILE_APP_CATALOGUE' })).toBe('kind')
    expect(await refusal({ headers: [{ name: 'X-Service-Id', value: 'x' }] })).toBe('headers[0].name')
    expect(await refusal({ headers: [{ name: 'a b', value: 'x' }] })).toBe('headers[0].name')
    expect(
      await refusal({
        headers: [
          { name: 'A', value: 'x' },
          { name: 'a', value: 'y' },
        ],
      }),
    ).toBe('headers[1].name')
    expect(await refusal({ headers: [{ name: 'A', value: 'x\r\ny: z' }] })).toBe('headers[0].value')
    expect(await refusal({ counterparty: 'two words' })).toBe('counterparty')
    expect(await refusal({ name: '' })).toBe('name')
    expect(await graph.rows('select id from agents.connectors')).toEqual([])
  })

  it('is made once for twenty creations with one key, and never a 51st of an organization', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, create, tries } = await shop(graph)
    const key = { idempotencyKey: 'one', headers: [{ name: 'A', value: 'x' }] }
    const made = await Promise.all(Array.from({ length: 20 }, () => create(key)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    const other = (
      await tries('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp`, ...key, headers: [{ name: 'A', value: 'y' }] })
    ).refused('CONFLICT')
    expect(other.extensions).toMatchObject({ reason: 'KEY_REUSED' })
    await graph.rows(
      `insert into agents.connectors (id, organization_id, name, kind, base_url, created_at, updated_at, created_by)
       select gen_random_uuid(), $1, 'x', 'MCP', 'https://x.example', $2, $2, 'x' from generate_series(1, 48)`,
      [owner.organizationId, graph.clock.now()],
    )
    const last = await Promise.all(Array.from({ length: 5 }, () => tries('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp` })))
    const refused = last.filter(answer => answer.error !== undefined)
    expect(refused).toHaveLength(4)
    expect(refused[0]!.refused('CONFLICT').extensions).toMatchObject({ reason: 'QUOTA' })
  })
})
