import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../../publishing/brand/seed.ts'

const run = 'id status output failure { code message } steps { key status output approval { id argumentsHash } }'
const mutation = (name: string, selection: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`

/** An owner with a brand, and what is done with our own platform as a connector. */
async function shop(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const brand = await seedBrand(graph, { organizationId: owner.organizationId! })
  const tries = (name: string, input: object, selection = run, as: Viewer = owner) => graph.execute(mutation(name, selection), { input }, { as })
  const does = async (name: string, input: object, selection = run, as: Viewer = owner) => (await tries(name, input, selection, as)).data()[name]
  const connectors = async () =>
    (await graph.execute('{ connectors { id name kind status baseUrl tools { name permission readOnly } } }', {}, { as: owner })).data().connectors
  const platform = async () => (await connectors()).find(({ kind }: { kind: string }) => kind === 'PLATFORM')
  const read = async (id: string) => (await graph.execute(`query($id: ID!) { run(id: $id) { ${run} } }`, { id }, { as: owner })).data().run
  return {
    ...{ owner, brand, tries, does, platform, connectors },
    act: async (tool: string, args: object, as: Viewer = owner) =>
      does('executeAction', { connectorId: (await platform()).id, tool, arguments: args }, run, as),
    async until(id: string, status: string) {
      await graph.clock.run(1)
      await expect.poll(async () => (await read(id)).status, { timeout: 10_000 }).toBe(status)
      return read(id)
    },
  }
}

describe('the connector to our own platform', () => {
  it('is there once for each organization, reads by itself and asks before it writes', async () => {
    await using graph = await supergraph()
    const { platform, connectors, tries, does } = await shop(graph)
    await Promise.all([platform(), platform(), platform()])
    expect((await connectors()).filter(({ kind }: { kind: string }) => kind === 'PLATFORM')).toHaveLength(1)
    const found = await platform()
    expect(found).toMatchObject({ name: 'Supergraph', status: 'HEALTHY', baseUrl: null })
    expect(found.tools.map((tool: Record<string, unknown>) => `${tool.name} ${tool.permission} ${tool.readOnly}`)).toEqual([
      ...['create_post ASK false', 'schedule_post ASK false', 'read_posts AUTO true', 'create_order ASK false', 'read_orders AUTO true'],
    ])
    ;(await tries('deleteConnector', { id: found.id }, 'id')).refused('CONFLICT')
    ;(await tries('updateConnector', { id: found.id, active: false }, 'id')).refused('CONFLICT')
    await does('updateConnector', { id: found.id, tools: [{ name: 'create_post', permission: 'AUTO' }] }, 'id')
    expect((await does('checkConnector', { id: found.id }, 'status tools { permission }')).tools[0]).toEqual({ permission: 'AUTO' })
  })

  it('writes a post once somebody has approved it, and reads it, as the person who began the run', async () => {
    await using graph = await supergraph()
    const { owner, brand, act, until, does } = await shop(graph)
    const begun = await act('create_post', { brandId: brand.id, platform: 'X', copy: 'By an agent' })
    const { approval } = (await until(begun.id, 'WAITING_APPROVAL')).steps[0]
    expect(await graph.rows('select id from publishing.posts')).toEqual([])
    await does('decideApproval', { id: approval.id, decision: 'APPROVE', argumentsHash: approval.argumentsHash }, 'id')
    const done = await until(begun.id, 'SUCCEEDED')
    expect(done.output).toEqual({ id: expect.any(String), status: 'DRAFT' })
    const { post } = (await graph.execute('query($id: ID!) { post(id: $id) { copy author { id } } }', { id: done.output.id }, { as: owner })).data()
    expect(post).toEqual({ copy: 'By an agent', author: { id: owner.userId } })
    const found = await until((await act('read_posts', { brandId: brand.id, search: 'By an agent' })).id, 'SUCCEEDED')
    expect(found.output.posts).toMatchObject([{ id: done.output.id, platform: 'X', status: 'DRAFT' }])
  })

  it('does nothing for a key, and nothing that the person may not do', async () => {
    await using graph = await supergraph()
    const { owner, brand, act, until, does, platform } = await shop(graph)
    const key: Viewer = { ...owner, kind: 'apiKey', userId: null, keyId: owner.userId, roles: [], scopes: ['agents:runs.invoke'] }
    const byKey = await does('executeAction', { connectorId: (await platform()).id, tool: 'read_posts', arguments: { brandId: brand.id } }, 'id', key)
    expect((await until(byKey.id, 'FAILED')).failure).toMatchObject({ code: 'NOT_PERMITTED' })
    await graph.rows(`update identity.memberships set roles = '{viewer}' where user_id = $1 and organization_id = $2`, [owner.userId, owner.organizationId])
    await does('updateConnector', { id: (await platform()).id, tools: [{ name: 'create_post', permission: 'AUTO' }] }, 'id')
    const refused = await until((await act('create_post', { brandId: brand.id, platform: 'X', copy: 'No' })).id, 'FAILED')
    expect(refused.failure).toMatchObject({ code: 'NOT_PERMITTED' })
    expect(await graph.rows('select id from publishing.posts')).toEqual([])
  })

  it('fails with what the platform said about wrong arguments', async () => {
    await using graph = await supergraph()
    const { act, until } = await shop(graph)
    expect((await until((await act('read_posts', { colour: 'red' })).id, 'FAILED')).failure).toMatchObject({
      ...{ code: 'TOOL_ERROR', message: expect.stringContaining('colour') },
    })
    expect((await until((await act('read_posts', { status: 'NO_STATUS' })).id, 'FAILED')).failure.code).toBe('TOOL_ERROR')
  })
})
