import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key } from '../../../kit/viewers.ts'

const createWorkflow = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'
const startRun = 'mutation($input: StartRunInput!) { startRun(input: $input) { id } }'
const runQuery = 'query($id: ID!) { run(id: $id) { status output steps { approval { id } } } }'
const fields = 'id status arguments argumentsHash required approvers { id } decisions { decision actor argumentsHash user { id } }'
const approvalQuery = `query($id: ID!) { approval(id: $id) { ${fields} } }`
const decideApproval = `mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { ${fields} } }`
const queue = '{ actionItems(first: 20) { nodes { subject { id } } } }'

/** Owner and member, and a gate for both of them at which a run of the member waits. */
async function gated(graph: Supergraph, gate: object = {}, starter?: Viewer, approvers?: (people: { owner: Viewer; member: Viewer }) => readonly unknown[]) {
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  const ask = async (document: string, variables: object = {}, as: Viewer = owner) => (await graph.execute(document, { ...variables }, { as })).data()
  const people = approvers?.({ owner, member }) ?? [owner.userId, member.userId]
  const steps = [{ key: 'ask', kind: 'APPROVAL', gate: { title: 'May it?', required: 2, ...gate, approvers: people }, arguments: { text: 'one' } }]
  const { id: workflowId } = (await ask(createWorkflow, { input: { name: 'Two', trigger: { kind: 'MANUAL' }, steps } })).createWorkflow
  await ask(publishWorkflow, { input: { id: workflowId } })
  const { id: runId } = (await ask(startRun, { input: { workflowId } }, starter ?? member)).startRun
  const run = async () => (await ask(runQuery, { id: runId })).run
  await graph.clock.run(1)
  await expect.poll(async () => (await run()).status, { timeout: 10_000 }).toBe('WAITING_APPROVAL')
  const { id } = (await run()).steps[0].approval
  const read = async () => (await ask(approvalQuery, { id })).approval
  const deciders = (viewer: Viewer): Viewer => ({ ...viewer, scopes: [...viewer.scopes, 'agents:approvals.write'] })
  return {
    ...{ owner, outsider, run, read, ask, id },
    member: deciders(member),
    decide: async (as: Viewer, more: object = {}) => {
      const { argumentsHash } = await read()
      return graph.execute(decideApproval, { input: { id, decision: 'APPROVE', argumentsHash, ...more } }, { as })
    },
    queued: async (as: Viewer) => (await ask(queue, {}, as)).actionItems.nodes.some((item: { subject: { id: string } | null }) => item.subject?.id === id),
  }
}

describe('an approval that several people decide', () => {
  it('goes on once two different people have approved, and counts nobody twice', async () => {
    await using graph = await supergraph()
    const { owner, member, decide, read, run } = await gated(graph)
    expect(await read()).toMatchObject({ required: 2, approvers: [{ id: owner.userId }, { id: member.userId }] })
    const answers = await Promise.all(Array.from({ length: 10 }, () => decide(owner)))
    expect(answers.filter(({ error }) => !error)).toHaveLength(1)
    expect((await decide(owner)).refused('CONFLICT').extensions).toMatchObject({ reason: 'DECIDED', status: 'PENDING' })
    expect((await read()).status).toBe('PENDING')
    expect((await decide(member)).data().decideApproval).toMatchObject({ status: 'APPROVED' })
    await graph.clock.run(1)
    await expect.poll(async () => (await run()).status, { timeout: 10_000 }).toBe('SUCCEEDED')
    expect((await read()).decisions).toHaveLength(2)
  })

  it('refuses everybody else, keys included, and waits in its approvers’ queues alone', async () => {
    await using graph = await supergraph()
    const { owner, member, decide, queued } = await gated(graph, { required: 1 }, undefined, ({ member: other }) => [other.userId])
    await expect.poll(() => queued(member), { timeout: 10_000 }).toBe(true)
    expect(await queued(owner)).toBe(false)
    for (const stranger of [owner, key(owner.organizationId!, ['agents:approvals.write', 'agents:workflows.read'])])
      expect((await decide(stranger)).refused('FORBIDDEN').extensions).toMatchObject({ reason: 'NOT_APPROVER' })
    expect((await decide(member)).data().decideApproval.status).toBe('APPROVED')
    await expect.poll(() => queued(member), { timeout: 10_000 }).toBe(false)
  })

  it('of high risk does not count whoever began the run', async () => {
    await using graph = await supergraph()
    const { owner, member, decide } = await gated(graph, { risk: 'HIGH', required: 1 })
    expect((await decide(member)).refused('FORBIDDEN').extensions).toMatchObject({ reason: 'NOT_APPROVER' })
    expect((await decide(owner)).data().decideApproval.status).toBe('APPROVED')
  })

  it('asks everybody anew after an edit, and goes on with exactly the edited arguments', async () => {
    await using graph = await supergraph()
    const { owner, member, decide, read, run } = await gated(graph, { allowed: ['APPROVE', 'EDIT', 'REJECT'] })
    const before = (await decide(owner)).data().decideApproval
    const edited = (await decide(member, { decision: 'EDIT', arguments: { text: 'two' } })).data().decideApproval
    expect(edited).toMatchObject({ status: 'PENDING', arguments: { text: 'two' } })
    expect((await decide(owner, { argumentsHash: before.argumentsHash })).refused('CONFLICT').extensions).toMatchObject({ reason: 'HASH_MISMATCH' })
    expect((await decide(member)).refused('CONFLICT').extensions).toMatchObject({ reason: 'DECIDED' })
    expect((await decide(owner)).data().decideApproval.status).toBe('EDITED')
    await graph.clock.run(1)
    await expect.poll(async () => (await run()).status, { timeout: 10_000 }).toBe('SUCCEEDED')
    expect((await run()).output).toMatchObject({ decision: 'EDIT', arguments: { text: 'two' } })
    expect((await read()).decisions.map(({ argumentsHash }: { argumentsHash: string }) => argumentsHash)).toEqual([
      before.argumentsHash,
      edited.argumentsHash,
      edited.argumentsHash,
    ])
  })

  it('ends by one rejection', async () => {
    await using graph = await supergraph()
    const { owner, member, decide } = await gated(graph)
    await decide(owner)
    expect((await decide(member, { decision: 'REJECT' })).data().decideApproval.status).toBe('REJECTED')
  })
})

describe('a gate', () => {
  it.each([
    ['more people than it names', { required: 3 }, 'steps[0].gate.required'],
    ['somebody who is no member', { approvers: [newId()], required: 1 }, 'steps[0].gate.approvers'],
    ['nobody', { approvers: [], required: 1 }, 'steps[0].gate.approvers'],
    ['several answers', { allowed: ['RESPOND'] }, 'steps[0].gate.allowed'],
  ])('refuses to wait for %s', async (_, gate, field) => {
    await using graph = await supergraph()
    const { owner, member } = await graph.seed.owner().member()
    const steps = [{ key: 'ask', kind: 'APPROVAL', gate: { title: 'May it?', approvers: [owner.userId, member.userId], required: 2, ...gate } }]
    const answer = await graph.execute(createWorkflow, { input: { name: 'Wrong', trigger: { kind: 'MANUAL' }, steps } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
  })
})
