import { describe, expect, it } from 'vitest'
import { hashOfAction } from '../../../../subgraphs/agents/engines/run/canonical.ts'
import { openDoor } from '../../../kit/door.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { shop, tell } from './stage.ts'

describe('an action that crosses organizations', () => {
  it('is asked about once and executed once, after exactly it was allowed', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connectorId, act, until, untilAsked, noted } = await shop(graph)
    const begun = await act('poll.peer', 'allowed')
    const waiting = await until(begun.id, 'WAITING_POLICY')
    const actionHash = hashOfAction({ connectorId, tool: 'create_note', counterparty: 'poll.peer', arguments: { text: 'allowed' } })
    expect(waiting.steps[0].policy).toMatchObject({ counterparty: 'poll.peer', actionHash, decision: 'PENDING', decidedAt: null })
    const [request, ...others] = await untilAsked(1)
    expect(others).toEqual([])
    expect(request).toEqual({
      ...{ id: waiting.steps[0].policy.requestId, organizationId: owner.organizationId, counterparty: 'poll.peer', actionHash, purpose: 'To try it.' },
      action: { connector: connectorId, tool: 'create_note', arguments: { text: 'allowed' } },
      ...{ requestedBy: `user:${owner.userId}`, callbackUrl: 'http://localhost:4000/agents/api/policy/decisions' },
      expiresAt: waiting.steps[0].policy.expiresAt,
    })
    await graph.clock.run(4_000)
    expect([(await until(begun.id, 'WAITING_POLICY')).status, await noted()]).toEqual(['WAITING_POLICY', []])
    await graph.clock.run(1_100)
    const done = await until(begun.id, 'SUCCEEDED')
    expect(done.steps[0].policy).toMatchObject({ decision: 'ALLOW', reason: expect.any(String), decidedAt: expect.any(String) })
    expect(await noted()).toEqual(['allowed'])
    const feed = (await graph.execute('{ workFeed { nodes { kind } } }', {}, { as: owner })).data().workFeed.nodes
    // Of one moment, so that their order is open.
    expect(feed.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(['POLICY_DECIDED', 'POLICY_REQUESTED', 'RUN_STARTED', 'RUN_SUCCEEDED'])
    const audited = await graph.rows(`select details->>'decision' as decision from agents.audit_entries where action = 'policy_request.decided'`)
    expect(audited).toEqual([{ decision: 'ALLOW' }])
  })

  it('ends without executing after a denial, and after silence, and leads where the plan says', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { connectorId, does, until, untilAsked, noted } = await shop(graph)
    const start = async (counterparty: string, otherwise?: string) => {
      const step = { key: 'note', kind: 'TOOL', connectorId, tool: 'create_note', arguments: { text: counterparty }, counterparty, policyTimeoutSeconds: 30 }
      const steps = [
        { ...step, ...(otherwise && { otherwise }) },
        { key: 'done', kind: 'REPORT', title: 'Done', text: 'Done.', next: 'end' },
        { key: 'refused', kind: 'REPORT', title: 'Refused', text: 'Refused.' },
      ]
      const { id: workflowId } = await does('createWorkflow', { name: 'A plan', trigger: { kind: 'MANUAL' }, steps }, 'id')
      await does('publishWorkflow', { id: workflowId }, 'id')
      return does('startRun', { workflowId })
    }
    const [denied, silent, led] = [await start('deny.peer'), await start('silence.peer'), await start('silence.peer', 'refused')]
    await until(denied.id, 'WAITING_POLICY')
    await untilAsked(3)
    await graph.clock.run(5_100)
    const refused = await until(denied.id, 'FAILED')
    expect(refused.failure).toMatchObject({ code: 'POLICY_DENIED', stepKey: 'note' })
    expect(refused.steps[0].policy.decision).toBe('DENY')
    await graph.clock.run(25_000)
    const expired = await until(silent.id, 'FAILED')
    expect([expired.failure.code, expired.steps[0].policy.decision]).toEqual(['POLICY_EXPIRED', 'EXPIRED'])
    expect((await until(led.id, 'SUCCEEDED')).output.text).toBe('Refused.')
    expect(await noted()).toEqual([])
    // Nobody is asked any more.
    expect(await graph.rows('select id from agents.policy_requests where next_at is not null')).toEqual([])
  })

  it('is handed over again while the service is away, and asked about only then', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { act, arm, until, untilAsked, noted } = await shop(graph)
    await arm({ fault: 'status', status: 503, times: 2 })
    const begun = await act('poll.peer', 'late')
    const tries = async (count: number) =>
      expect
        .poll(
          async () => {
            await graph.clock.run(1)
            return (await graph.rows<{ tries: number }>('select tries from agents.policy_requests where next_at > $1', [graph.clock.now()]))[0]?.tries
          },
          { timeout: 10_000 },
        )
        .toBe(count)
    await until(begun.id, 'WAITING_POLICY')
    await tries(1)
    await graph.clock.run(1_100)
    await tries(2)
    expect(await noted()).toEqual([])
    await graph.clock.run(2_100)
    expect(await untilAsked(1)).toHaveLength(1)
    await graph.clock.run(5_100)
    await until(begun.id, 'SUCCEEDED')
    expect(await noted()).toEqual(['late'])
  })

  it('waits for a person first, and asks about what the person made of it', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { act, does, until, untilAsked, asked, noted } = await shop(graph)
    const gate = { title: 'May it?', allowed: ['APPROVE', 'EDIT', 'REJECT'] }
    const begun = await act('poll.peer', 'before', { gate })
    const { approval } = (await until(begun.id, 'WAITING_APPROVAL')).steps[0]
    expect([approval.counterparty, await asked()]).toEqual(['poll.peer', []])
    await does('decideApproval', { id: approval.id, decision: 'EDIT', argumentsHash: approval.argumentsHash, arguments: { text: 'after' } }, 'id')
    await until(begun.id, 'WAITING_POLICY')
    expect((await untilAsked(1)).map(({ action }) => action.arguments)).toEqual([{ text: 'after' }])
    await graph.clock.run(5_100)
    await until(begun.id, 'SUCCEEDED')
    expect(await noted()).toEqual(['after'])
  })

  it('is that of a connector with an owner, whether or not it is named; another owner is refused', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { connectorId, act, tries, does, until, untilAsked, noted } = await shop(graph)
    await does('updateConnector', { id: connectorId, counterparty: 'deny.peer' }, 'id')
    const left = await act(undefined, 'left out')
    await until(left.id, 'WAITING_POLICY')
    await untilAsked(1)
    await graph.clock.run(5_100)
    expect((await until(left.id, 'FAILED')).failure.code).toBe('POLICY_DENIED')
    const other = await tries('executeAction', { connectorId, tool: 'create_note', arguments: { text: 'other' }, counterparty: 'allow.peer' }, 'id')
    expect(other.refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'counterparty' })
    expect(await noted()).toEqual([])
  })

  it('cannot begin where no service is configured', async () => {
    await using graph = await supergraph({ sandbox: true, neighbours: false })
    const { connectorId, tries, does } = await shop(graph)
    const input = { connectorId, tool: 'create_note', arguments: { text: 'x' } }
    const refused = await tries('executeAction', { ...input, counterparty: 'allow.peer' }, 'id')
    expect(refused.refused('CONFLICT').extensions).toMatchObject({ reason: 'NOT_CONFIGURED' })
    const steps = [{ key: 'note', kind: 'TOOL', ...input, counterparty: 'allow.peer' }]
    const { id: workflowId } = await does('createWorkflow', { name: 'A plan', trigger: { kind: 'MANUAL' }, steps }, 'id')
    await does('publishWorkflow', { id: workflowId }, 'id')
    expect((await tries('startRun', { workflowId }, 'id')).refused('CONFLICT').extensions).toMatchObject({ reason: 'NOT_CONFIGURED' })
    expect(await graph.rows('select id from agents.runs')).toEqual([])
  })
})

describe('a decision that the service tells', () => {
  it('counts once when it is signed and about exactly the action, however often it comes', async () => {
    await using graph = await supergraph({ sandbox: true })
    await using door = await openDoor(graph)
    const { act, until, untilAsked, noted } = await shop(graph)
    const begun = await act('silence.peer', 'told')
    await until(begun.id, 'WAITING_POLICY')
    const [request] = await untilAsked(1)
    const { id, actionHash } = request!
    const allow = { id, decision: 'allow', actionHash, reason: 'Fine.', policyVersion: '7' }
    const statuses = async (...told: readonly ReturnType<typeof tell>[]) => (await Promise.all(told)).map(({ status }) => status)
    const another = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    expect(await statuses(tell(graph, door, allow, { secret: another }), tell(graph, door, allow, { ageSeconds: 301 }))).toEqual([401, 401])
    expect((await door.ask('POST', '/agents/api/policy/decisions', { body: { type: 'policy.decided', data: allow } })).status).toBe(401)
    expect(await statuses(tell(graph, door, { ...allow, id: '01a00000-0000-7000-8000-000000000001' }), tell(graph, door, { ...allow, id: 'x' }))).toEqual([
      404, 404,
    ])
    expect(await statuses(tell(graph, door, allow, { type: 'other' }), tell(graph, door, { ...allow, decision: 'perhaps' }))).toEqual([400, 400])
    expect(await statuses(tell(graph, door, { id, decision: 'hold', reason: 'We look.' }))).toEqual([204])
    expect((await until(begun.id, 'WAITING_POLICY')).steps[0].policy).toMatchObject({ decision: 'HOLD', reason: 'We look.', decidedAt: null })
    expect(await noted()).toEqual([])
    expect(await statuses(...[1, 2, 3, 4, 5].map(() => tell(graph, door, allow)))).toEqual([204, 204, 204, 204, 204])
    await until(begun.id, 'SUCCEEDED')
    expect(
      await statuses(tell(graph, door, allow), tell(graph, door, { ...allow, decision: 'deny' }), tell(graph, door, { ...allow, decision: 'hold' })),
    ).toEqual([204, 409, 409])
    expect(await noted()).toEqual(['told'])
  })

  it('executes nothing when it allows another action, or comes after the end', async () => {
    await using graph = await supergraph({ sandbox: true })
    await using door = await openDoor(graph)
    const { act, does, until, untilAsked, noted } = await shop(graph)
    const [wrong, late, stopped] = [await act('silence.peer', 'wrong'), await act('silence.peer', 'late'), await act('silence.peer', 'stopped')]
    for (const { id } of [wrong, late, stopped]) await until(id, 'WAITING_POLICY')
    const requests = await untilAsked(3)
    const of = (text: string) => requests.find(({ action }) => action.arguments.text === text)!
    const allow = (text: string, actionHash = of(text).actionHash) => tell(graph, door, { id: of(text).id, decision: 'allow', actionHash })
    expect((await allow('wrong', of('late').actionHash)).status).toBe(204)
    const mismatch = await until(wrong.id, 'FAILED')
    expect([mismatch.failure.code, mismatch.steps[0].policy.decision]).toEqual(['POLICY_MISMATCH', 'MISMATCH'])
    await does('cancelRun', { id: stopped.id }, 'id')
    expect((await allow('stopped')).status).toBe(409)
    await graph.clock.run(61_000)
    expect((await until(late.id, 'FAILED')).failure.code).toBe('POLICY_EXPIRED')
    expect((await allow('late')).json).toMatchObject({ status: 409, reason: 'DECIDED' })
    expect((await until(stopped.id, 'CANCELLED')).steps[0]).toMatchObject({ status: 'CANCELLED', policy: { decision: 'PENDING' } })
    expect(await noted()).toEqual([])
  })

  it('is asked for anew by a retry, under another id', async () => {
    await using graph = await supergraph({ sandbox: true })
    await using door = await openDoor(graph)
    const { act, does, until, untilAsked, noted } = await shop(graph)
    const begun = await act('silence.peer', 'again')
    await until(begun.id, 'WAITING_POLICY')
    const [first] = await untilAsked(1)
    await tell(graph, door, { id: first!.id, decision: 'deny', actionHash: first!.actionHash })
    await until(begun.id, 'FAILED')
    await does('retryRun', { id: begun.id }, 'id')
    await until(begun.id, 'WAITING_POLICY')
    const second = (await untilAsked(2)).find(({ id }) => id !== first!.id)!
    expect(second.actionHash).toBe(first!.actionHash)
    await tell(graph, door, { id: second.id, decision: 'allow', actionHash: second.actionHash })
    expect((await until(begun.id, 'SUCCEEDED')).steps[0]).toMatchObject({ attempt: 2, policy: { requestId: second.id } })
    expect(await noted()).toEqual(['again'])
  })
})
