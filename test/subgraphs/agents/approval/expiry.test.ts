import { describe, expect, it } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const run = 'id status failure { code } steps { key status approval { id status argumentsHash decisions { decision actor } } }'
const mutation = (name: string, selection: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const gate = { title: 'May it?', expiresInSeconds: 10 }

/** An owner with a connector to the sandbox's server of tools, and a run whose note waits for a person. */
async function waiting(graph: Supergraph, more: object) {
  const { owner } = await graph.seed.owner()
  const tries = (name: string, input: object, selection = run) => graph.execute(mutation(name, selection), { input }, { as: owner })
  const does = async (name: string, input: object, selection = run) => (await tries(name, input, selection)).data()[name]
  const { id: connectorId } = await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp` }, 'id')
  await does('checkConnector', { id: connectorId }, 'id')
  const begun = await does('executeAction', { connectorId, tool: 'create_note', arguments: { text: 'after silence' }, gate: { ...gate, ...more } })
  const read = async () => (await graph.execute(`query($id: ID!) { run(id: $id) { ${run} } }`, { id: begun.id }, { as: owner })).data().run
  const until = async (status: string) => {
    await expect
      .poll(
        async () => {
          await graph.clock.run(1)
          return (await read()).status
        },
        { timeout: 20_000 },
      )
      .toBe(status)
    return read()
  }
  const { approval } = (await until('WAITING_APPROVAL')).steps[0]
  return {
    ...{ approval, until },
    decide: (decision: string) => tries('decideApproval', { id: approval.id, decision, argumentsHash: approval.argumentsHash }, 'status'),
    noted: async () => (await fetch(`${graph.x.origin}/_control/received?network=mcp`).then(answer => answer.json())) as unknown[],
    facts: async () => (await graph.rows<{ kind: string }>(`select kind from agents.facts where kind like 'attention.%' order by seq`)).map(({ kind }) => kind),
  }
}

describe('the expiry of an approval', () => {
  it('approves by default exactly once, also when people decide at that very moment', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { until, decide, noted, facts } = await waiting(graph, { onExpiry: 'APPROVE' })
    await graph.clock.advance(10_000)
    const [answers] = await Promise.all([Promise.all(Array.from({ length: 20 }, () => decide('REJECT'))), graph.clock.run(1)])
    for (const answer of answers) expect(answer.refused('CONFLICT').extensions).toMatchObject({ reason: 'DECIDED' })
    const done = await until('SUCCEEDED')
    expect(done.steps[0].approval).toMatchObject({ status: 'EXPIRED', decisions: [{ decision: 'APPROVE', actor: 'system' }] })
    expect(await noted()).toHaveLength(1)
    expect(await facts()).toEqual(['attention.opened', 'attention.closed'])
  })

  it('does not happen any more once somebody has decided a moment before', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { until, decide, noted, facts } = await waiting(graph, { onExpiry: 'APPROVE' })
    await graph.clock.advance(9_000)
    const answers = await Promise.all(Array.from({ length: 20 }, () => decide('REJECT')))
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1)
    await graph.clock.run(60_000)
    const failed = await until('FAILED')
    expect([failed.failure.code, failed.steps[0].approval.decisions.length]).toEqual(['APPROVAL_REJECTED', 1])
    expect(await noted()).toEqual([])
    expect(await facts()).toEqual(['attention.opened', 'attention.closed'])
  })

  it('comes once after an escalation, which comes once before it', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { until, noted, facts } = await waiting(graph, { onExpiry: 'APPROVE', expiresInSeconds: 60, escalateAfterSeconds: 20 })
    for (let seconds = 0; seconds < 19; seconds += 5) await graph.clock.run(5_000)
    await expect
      .poll(
        async () => {
          await graph.clock.run(1_000)
          return (await facts()).length
        },
        { timeout: 20_000 },
      )
      .toBe(2)
    await graph.clock.run(10_000)
    expect(await facts()).toEqual(['attention.opened', 'attention.opened'])
    await graph.clock.run(30_000)
    await until('SUCCEEDED')
    expect(await facts()).toEqual(['attention.opened', 'attention.opened', 'attention.closed'])
    expect(await noted()).toHaveLength(1)
  })
})
