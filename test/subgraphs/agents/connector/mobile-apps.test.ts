import { describe, expect, it } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const fields = 'id name publisher artifacts { platform identifier version build status url sha256 bytes minimumOs releasedAt storeUrl }'
const listing = `query($platform: MobilePlatform, $first: Int, $after: String) {
  mobileApps(platform: $platform, first: $first, after: $after) { totalCount nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`
const executeAction = 'mutation($input: ExecuteActionInput!) { executeAction(input: $input) { id } }'
const runQuery = 'query($id: ID!) { run(id: $id) { status output failure { code message } } }'
const updateConnector = 'mutation($input: UpdateConnectorInput!) { updateConnector(input: $input) { status } }'

async function shop(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const ask = (document: string, variables: object = {}) => graph.execute(document, { ...variables }, { as: owner })
  const control = async (path: string, body?: object) =>
    (
      await fetch(`${graph.x.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    ).json()
  const catalogue = async () =>
    (await ask('{ connectors { id kind name status baseUrl tools { name permission readOnly } } }'))
      .data()
      .connectors.find(({ kind }: { kind: string }) => kind === 'MOBILE_APP_CATALOGUE')
  return { owner, ask, control, catalogue }
}

describe('the mobile app catalogue', () => {
  it('lists apps with their files in pages, by kind of phone, and says who asks', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, ask, control } = await shop(graph)
    const all = (await ask(listing)).data().mobileApps
    expect(all.totalCount).toBe(2)
    expect(all.nodes[0]).toMatchObject({ name: 'Supergraph One', artifacts: [{ platform: 'ANDROID', bytes: 48_200_000 }, { platform: 'IOS' }] })
    const first = (await ask(listing, { first: 1 })).data().mobileApps
    expect([first.nodes.length, first.pageInfo.hasNextPage]).toEqual([1, true])
    const rest = (await ask(listing, { first: 1, after: first.pageInfo.endCursor })).data().mobileApps
    expect([rest.nodes[0].name, rest.pageInfo.hasNextPage]).toEqual(['Supergraph Field', false])
    const ios = (await ask(listing, { platform: 'IOS' })).data().mobileApps
    expect(ios.nodes.map(({ name, artifacts }: { name: string; artifacts: unknown[] }) => [name, artifacts.length])).toEqual([['Supergraph One', 1]])
    const [service] = await graph.rows<{ id: string }>(`select id from identity.service_entries where slug = 'agents'`)
    expect((await control('requests?network=developers')).at(-1)).toMatchObject({ serviceId: service!.id, appId: 'app_agents' })
    expect(owner.organizationId).toBeTruthy()
  })

  it('costs only itself when the developer platform fails, and answers what the operator can mend', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { ask, control, catalogue } = await shop(graph)
    await control('faults', { network: 'developers', fault: 'status', status: 503, times: 1 })
    const broken = await ask('{ mobileApps { nodes { id } } connectors { id } }')
    expect([broken.partial.errors.map(({ extensions }) => extensions.code), broken.partial.data!.connectors.length]).toEqual([['UPSTREAM_FAILED'], 2])
    const { id } = await catalogue()
    expect((await ask(updateConnector, { input: { id, active: false } })).data().updateConnector.status).toBe('DISABLED')
    expect((await ask(listing)).refused('CONFLICT').extensions).toMatchObject({ reason: 'NOT_CONFIGURED' })
  })

  it('is out of use where no developer platform is configured', async () => {
    await using graph = await supergraph({ sandbox: true, neighbours: false })
    const { ask, catalogue } = await shop(graph)
    expect(await catalogue()).toMatchObject({ name: 'Mobile apps', status: 'DISABLED', baseUrl: null })
    expect((await ask(listing)).refused('CONFLICT').extensions).toMatchObject({ reason: 'NOT_CONFIGURED' })
  })

  it('is called by its tools, which only read', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { ask, catalogue } = await shop(graph)
    const { id: connectorId, tools, status } = await catalogue()
    expect([status, tools.map(({ name, permission }: Record<string, string>) => `${name} ${permission}`)]).toEqual([
      'HEALTHY',
      ['list_apps AUTO', 'get_app AUTO', 'list_artifacts AUTO'],
    ])
    const call = async (tool: string, args: object) => {
      const { id } = (await ask(executeAction, { input: { connectorId, tool, arguments: args } })).data().executeAction
      await graph.clock.run(1)
      await expect.poll(async () => (await ask(runQuery, { id })).data().run.status, { timeout: 10_000 }).toMatch(/SUCCEEDED|FAILED/)
      const { output, failure } = (await ask(runQuery, { id })).data().run
      return failure ?? output
    }
    const { apps } = await call('list_apps', {})
    expect(apps.map(({ name }: { name: string }) => name)).toEqual(['Supergraph One', 'Supergraph Field'])
    const [{ id }] = apps
    expect((await call('get_app', { id })).name).toBe('Supergraph One')
    expect((await call('list_artifacts', { id, platform: 'IOS' })).artifacts).toHaveLength(1)
    expect(await call('get_app', { id: 'none' })).toMatchObject({ code: 'TOOL_ERROR' })
    expect(await call('list_apps', { other: 1 })).toMatchObject({ code: 'TOOL_ERROR' })
  })
})
