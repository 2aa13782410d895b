import { describe, expect, it } from 'vitest'
import { hashOfAction } from '../../../../subgraphs/agents/engines/run/canonical.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const run = `id status trigger input output failure { code message stepKey } startedBy { id }
  steps { id key kind status attempt input output failure { code message } approval { id status argumentsHash connector { id } tool } }`
const mutation = (name: string, selection: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`

/** An owner with a checked connector to the sandbox's server, whose create_note needs nobody and whose purge is denied. */
async function shop(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const tries = (name: string, input: object, selection = run, as: Viewer = owner) => graph.execute(mutation(name, selection), { input }, { as })
  const does = async (name: string, input: object, selection = run, as: Viewer = owner) => (await tries(name, input, selection, as)).data()[name]
  const { id: connectorId } = await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp` }, 'id')
  await does('checkConnector', { id: connectorId }, 'id')
  const tools = [
    { name: 'create_note', permission: 'AUTO' },
    { name: 'refuse', permission: 'AUTO' },
    { name: 'purge', permission: 'DENY' },
  ]
  await does('updateConnector', { id: connectorId, tools }, 'id')
  const control = async (path: string, body?: object) =>
    (
      await fetch(`${graph.x.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    ).json()
  const read = async (id: string) => (await graph.execute(`query($id: ID!) { run(id: $id) { ${run} } }`, { id }, { as: owner })).data().run
  const note = (text: string, more: object = {}) => ({ key: 'note', kind: 'TOOL', connectorId, tool: 'create_note', arguments: { text }, ...more })
  return {
    ...{ owner, outsider, connectorId, tries, does, read, note },
    act: (tool: string, args: unknown, more: object = {}) => does('executeAction', { connectorId, tool, arguments: args, ...more }),
    arm: (fault: object) => control('faults', { network: 'mcp', times: 1, ...fault }),
    received: () => control('received?network=mcp') as Promise<readonly Record<string, unknown>[]>,
    async start(steps: readonly object[], input: object = {}) {
      const { id: workflowId } = await does('createWorkflow', { name: 'A plan', trigger: { kind: 'MANUAL' }, steps }, 'id')
      await does('publishWorkflow', { id: workflowId }, 'id')
      return does('startRun', { workflowId, input })
    },
    /** Lets the present be worked off, and waits until the run stands so. */
    async until(id: string, status: string) {
      await graph.clock.run(1)
      await expect.poll(async () => (await read(id)).status, { timeout: 10_000 }).toBe(status)
      return read(id)
    },
  }
}

describe('a TOOL step', () => {
  it('calls its tool once under the key of its attempt, says who calls, and hands its output on', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, start, until, note, received } = await shop(graph)
    const begun = await start([note('{{input.text}}'), { key: 'report', kind: 'REPORT', title: 'R', text: '{{steps.note.output.text}}!' }], { text: 'one' })
    const done = await until(begun.id, 'SUCCEEDED')
    expect(done.steps[0]).toMatchObject({ status: 'SUCCEEDED', input: { text: 'one' }, output: { id: expect.any(String), text: 'one' } })
    expect(done.output).toMatchObject({ text: 'one!' })
    const [service] = await graph.rows<{ id: string }>(`select id from identity.service_entries where slug = 'agents'`)
    expect(await received()).toMatchObject([
      { tool: 'create_note', idempotencyKey: `${begun.id}:note:1`, serviceId: service!.id, appId: 'app_agents', organizationId: owner.organizationId },
    ])
  })

  it('is repeated by itself after a refusal without effect, and for an idempotent tool after a lost answer', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { start, until, note, received, arm } = await shop(graph)
    for (const fault of [{ fault: 'status', status: 503 }, { fault: 'accept-then-reset' }]) {
      await arm(fault)
      const begun = await start([note(`after ${fault.fault}`)])
      await until(begun.id, 'RUNNING')
      await expect
        .poll(async () => (await graph.rows('select tries from agents.run_steps where run_id = $1 and due_at is not null', [begun.id])).length)
        .toBe(1)
      await graph.clock.run(1_100)
      expect((await until(begun.id, 'SUCCEEDED')).steps[0]).toMatchObject({ attempt: 1 })
    }
    expect((await received()).map(({ text }) => text)).toEqual(['after status', 'after accept-then-reset'])
  })

  it('fails for good when the tool refuses, and goes on from there by a retry under another key', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { start, until, note, does, arm, received } = await shop(graph)
    const refused = await start([{ key: 'no', kind: 'TOOL', connectorId: note('').connectorId, tool: 'refuse', arguments: {} }])
    expect((await until(refused.id, 'FAILED')).failure).toMatchObject({ code: 'TOOL_ERROR', message: 'Refused.', stepKey: 'no' })
    await arm({ fault: 'status', status: 400 })
    const begun = await start([note('again')])
    expect((await until(begun.id, 'FAILED')).failure.code).toBe('TOOL_ERROR')
    await does('retryRun', { id: begun.id }, 'id')
    expect((await until(begun.id, 'SUCCEEDED')).steps[0]).toMatchObject({ attempt: 2 })
    expect((await received()).map(({ idempotencyKey }) => idempotencyKey)).toEqual([`${begun.id}:note:2`])
  })

  it('is UNKNOWN after a lost answer of a tool that is not idempotent, is never sent again, and ends by a person’s word', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { act, until, does, tries, arm, received } = await shop(graph)
    const begun = await act('send_letter', { to: 'ada', text: 'hello' })
    const { steps } = await until(begun.id, 'WAITING_APPROVAL')
    await arm({ fault: 'accept-then-reset' })
    const { id, argumentsHash } = steps[0].approval
    await does('decideApproval', { id, decision: 'APPROVE', argumentsHash }, 'id')
    const failed = await until(begun.id, 'FAILED')
    expect([failed.failure.code, failed.steps[0].status]).toEqual(['OUTCOME_UNKNOWN', 'UNKNOWN'])
    expect((await tries('retryRun', { id: begun.id }, 'id')).refused('CONFLICT').extensions).toMatchObject({ reason: 'OUTCOME_UNKNOWN' })
    await does('resolveStep', { stepId: failed.steps[0].id, happened: true, output: { id: 'seen' } }, 'id')
    expect((await until(begun.id, 'SUCCEEDED')).output).toEqual({ id: 'seen' })
    expect(await received()).toHaveLength(1)
    expect(await graph.rows(`select 1 from agents.work_feed where kind = 'RUN_SUCCEEDED'`)).toHaveLength(1)
  })

  it('is refused in a plan with a tool or connector that is not there, and fails when it is gone or denied later', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { outsider, connectorId, tries, does, note, start, until } = await shop(graph)
    const fieldOf = async (step: object, as?: Viewer) =>
      (await tries('createWorkflow', { name: 'x', trigger: { kind: 'MANUAL' }, steps: [step] }, 'id', as)).refused('BAD_USER_INPUT').extensions.field
    expect(await fieldOf(note('x', { tool: 'no_such_tool' }))).toBe('steps[0].tool')
    expect(await fieldOf(note('x', { connectorId: undefined }))).toBe('steps[0].connectorId')
    expect(await fieldOf(note('x'), outsider)).toBe('steps[0].connectorId')
    expect(await fieldOf(note('x', { arguments: [1] }))).toBe('steps[0].arguments')
    await does('updateConnector', { id: connectorId, tools: [{ name: 'create_note', permission: 'DENY' }] }, 'id')
    expect((await until((await start([note('x')])).id, 'FAILED')).failure.code).toBe('NOT_PERMITTED')
    const later = await start([note('x')])
    await does('deleteConnector', { id: connectorId }, 'id')
    expect((await until(later.id, 'FAILED')).failure.code).toBe('NOT_PERMITTED')
  })
})

describe('executeAction', () => {
  it('runs one tool with the arguments as they are, once for twenty calls with one key', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, act, until, received } = await shop(graph)
    const args = { text: 'no {{input.template}} {{here' }
    const begun = await Promise.all(Array.from({ length: 20 }, () => act('create_note', args, { idempotencyKey: 'once' })))
    expect(new Set(begun.map(({ id }) => id)).size).toBe(1)
    const done = await until(begun[0].id, 'SUCCEEDED')
    expect(done).toMatchObject({ trigger: 'OPERATOR', startedBy: { id: owner.userId }, steps: [{ key: 'action', input: args, output: args }] })
    expect(await received()).toHaveLength(1)
  })

  it('binds an approval to connector, tool and arguments, and executes the edited ones', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { act, until, does, connectorId, received } = await shop(graph)
    const gate = { title: 'May it?', allowed: ['APPROVE', 'EDIT', 'REJECT'] }
    const begun = await act('create_note', { text: 'before' }, { gate })
    const { approval } = (await until(begun.id, 'WAITING_APPROVAL')).steps[0]
    const hash = hashOfAction({ connectorId, tool: 'create_note', counterparty: null, arguments: { text: 'before' } })
    expect(approval).toMatchObject({ argumentsHash: hash, connector: { id: connectorId }, tool: 'create_note' })
    await does('decideApproval', { id: approval.id, decision: 'EDIT', argumentsHash: hash, arguments: { text: 'after' } }, 'id')
    await until(begun.id, 'SUCCEEDED')
    expect((await received()).map(({ text }) => text)).toEqual(['after'])
  })

  it('refuses denied and unknown tools, other organizations’ connectors, and wrong arguments', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { outsider, tries, connectorId } = await shop(graph)
    const act = (more: object, as?: Viewer) => tries('executeAction', { connectorId, tool: 'create_note', arguments: {}, ...more }, 'id', as)
    expect((await act({ tool: 'purge' })).refused('FORBIDDEN').extensions).toMatchObject({ reason: 'NOT_PERMITTED' })
    expect((await act({ tool: 'none' })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'tool' })
    expect((await act({ arguments: 'text' })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'arguments' })
    expect((await act({ policyTimeoutSeconds: 1 })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'policyTimeoutSeconds' })
    ;(await act({}, outsider)).refused('NOT_FOUND')
    expect(await graph.rows('select id from agents.runs')).toEqual([])
  })
})
