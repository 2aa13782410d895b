import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'
import { seedAttention, seedClosed } from '../../action-item/seed.ts'
import { seedPlatformApps } from '../../catalog/seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
let program: Viewer
beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  await seedPlatformApps(graph)
})
beforeEach(async () => {
  const people = await graph.seed.owner().member().outsider()
  // Nobody has signed in here: a launch then counts for no session.
  ;[owner, member, outsider] = [people.owner, people.member, people.outsider].map(viewer => ({ ...viewer, sessionId: null })) as [Viewer, Viewer, Viewer]
  program = key(owner.organizationId!, ['launcher:workflows.write', 'launcher:workflows.read'])
})
afterAll(() => graph[Symbol.asyncDispose]())

const launch = { kind: 'LAUNCH', title: 'Begin', app: 'launcher', returnTo: '/actions' }
const action = { kind: 'ACTION', title: 'Mend', actionKind: 'POST_FAILED' }
const link = { kind: 'LINK', title: 'Look', url: 'https://example.test/board' }
const selection = 'id name shared steps { kind title app returnTo actionKind url } createdBy { id } version'
const write = (name: 'create' | 'update' | 'delete', input: object, as: Viewer) => {
  const [field, type] = [`${name}LauncherWorkflow`, `${name[0]!.toUpperCase()}${name.slice(1)}LauncherWorkflowInput`]
  return graph.execute(`mutation($input: ${type}!) { workflow: ${field}(input: $input) { ${selection} } }`, { input }, { as })
}
const made = async (input: object = {}, as = owner) =>
  (await write('create', { name: 'Morning round', steps: [launch, action, link], ...input }, as)).data().workflow
const read = (id: string, as: Viewer) => graph.execute(`{ launcherWorkflow(id: "${id}") { ${selection} } }`, {}, { as })
const names = async (as: Viewer) =>
  (await graph.execute('{ launcherWorkflows { nodes { name } } }', {}, { as })).data().launcherWorkflows.nodes.map(({ name }: { name: string }) => name)
const run = (input: object, as: Viewer) =>
  graph.execute(
    `mutation($input: RunLauncherWorkflowInput!) { runLauncherWorkflow(input: $input) {
      position kind title url next launch { id status source steps { kind url } } actionItem { id } } }`,
    { input },
    { as },
  )
const alone = () => ({ ...personally(owner), scopes: personalScopes })

describe('createLauncherWorkflow', () => {
  it('saves a sequence that its maker alone sees', async () => {
    const workflow = await made()
    expect(workflow).toEqual({
      ...{ id: expect.any(String), name: 'Morning round', shared: false, version: 1, createdBy: { id: owner.userId } },
      steps: [
        { ...launch, actionKind: null, url: null },
        { ...action, app: null, returnTo: null, url: null },
        { ...link, app: null, returnTo: null, actionKind: null },
      ],
    })
    expect((await read(workflow.id, owner)).data().launcherWorkflow).toEqual(workflow)
    for (const as of [member, outsider, program, alone()]) (await read(workflow.id, as)).refused('NOT_FOUND')
    expect([await names(owner), await names(member), await names(alone()), await names(program)]).toEqual([['Morning round'], [], [], []])
  })

  it('shares one with the organization, by those who have the scope to write', async () => {
    const { id } = await made({ shared: true })
    for (const as of [member, program]) expect((await read(id, as)).data().launcherWorkflow.id).toBe(id)
    ;(await read(id, outsider)).refused('NOT_FOUND')
    ;(await write('create', { name: 'Mine', shared: true, steps: [link] }, member)).refused('FORBIDDEN')
    expect((await made({ name: 'Mine' }, member)).shared).toBe(false)
    expect((await made({ name: 'Of a program', shared: true }, program)).createdBy).toBeNull()
  })

  it('answers a repeated idempotencyKey with the first one', async () => {
    const first = await made({ idempotencyKey: 'once' })
    expect((await made({ idempotencyKey: 'once' })).id).toBe(first.id)
    expect(await names(owner)).toHaveLength(1)
  })

  it('refuses the 101st of a person, of requests at once too, and counts shared ones apart', async () => {
    await graph.rows(
      `insert into launcher.workflows (id, organization_id, user_id, name, shared, steps, created_at, updated_at, created_by)
       select gen_random_uuid(), $1, $2, 'n' || n, false, '[]', now(), now(), 'test' from generate_series(1, 99) n`,
      [owner.organizationId, owner.userId],
    )
    const answers = await Promise.all([1, 2, 3].map(() => write('create', { name: 'One more', steps: [link] }, owner)))
    const refused = answers.filter(({ error }) => error)
    expect(refused.map(({ error }) => [error!.extensions!.code, error!.extensions!.reason])).toEqual(Array(2).fill(['CONFLICT', 'LIMIT']))
    const shared = await made({ shared: true })
    expect((await write('update', { id: shared.id, shared: false }, owner)).refused('CONFLICT').extensions.reason).toBe('LIMIT')
  })

  it('refuses a shared one in personal context', async () => {
    expect((await write('create', { name: 'x', shared: true, steps: [link] }, alone())).refused('CONFLICT').extensions.reason).toBe('CONTEXT')
    expect((await made({}, alone())).shared).toBe(false)
  })
})

describe('updateLauncherWorkflow', () => {
  it('changes what is named and keeps the rest', async () => {
    const { id, steps } = await made()
    expect((await write('update', { id, name: 'Evening round' }, owner)).data().workflow).toMatchObject({ name: 'Evening round', steps, version: 2 })
    const changed = (await write('update', { id, steps: [link], shared: true }, owner)).data().workflow
    expect(changed).toMatchObject({ name: 'Evening round', steps: [link], shared: true, version: 3 })
    expect(await names(member)).toEqual(['Evening round'])
  })

  it('refuses a stale version, and shared ones without the scope to write', async () => {
    const { id } = await made({ shared: true })
    expect((await write('update', { id, name: 'x', expectedVersion: 7 }, owner)).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    ;(await write('update', { id, name: 'x' }, member)).refused('FORBIDDEN')
    ;(await write('update', { id, name: 'x' }, outsider)).refused('NOT_FOUND')
    expect((await read(id, owner)).data().launcherWorkflow).toMatchObject({ name: 'Morning round', version: 1 })
  })

  it('is written down for shared ones', async () => {
    const { id } = await made({ shared: true })
    await write('update', { id, name: 'x' }, program)
    await write('delete', { id }, owner)
    const audits = await graph.rows('select action, actor from launcher.audit_entries where subject_id = $1 order by at, id', [id])
    expect(audits).toEqual([
      { action: 'launcher_workflow.created', actor: `user:${owner.userId}` },
      { action: 'launcher_workflow.updated', actor: `key:${program.keyId}` },
      { action: 'launcher_workflow.deleted', actor: `user:${owner.userId}` },
    ])
  })
})

describe('deleteLauncherWorkflow', () => {
  it('deletes one’s own with the scope to read, and a shared one with the scope to write alone', async () => {
    const own = await made({}, member)
    expect((await write('delete', { id: own.id }, member)).data().workflow.id).toBe(own.id)
    ;(await read(own.id, member)).refused('NOT_FOUND')
    const shared = await made({ shared: true })
    ;(await write('delete', { id: shared.id }, member)).refused('FORBIDDEN')
    ;(await write('delete', { id: newId() }, program)).refused('NOT_FOUND')
    ;(await write('delete', { id: shared.id }, program)).data()
    expect(await names(owner)).toEqual([])
  })
})

describe('runLauncherWorkflow', () => {
  it('makes each launch when it is its turn, and ends after the last step', async () => {
    const { id } = await made({ shared: true, steps: [launch, link] })
    const first = (await run({ id }, member)).data().runLauncherWorkflow
    expect(first).toMatchObject({ position: 1, kind: 'LAUNCH', title: 'Begin', url: null, next: 2, actionItem: null })
    expect(first.launch).toMatchObject({ status: 'READY', source: 'WORKFLOW', steps: [{ kind: 'WEB', url: expect.stringContaining('sso_code=') }] })
    const last = (await run({ id, position: 2 }, member)).data().runLauncherWorkflow
    expect(last).toEqual({ position: 2, kind: 'LINK', title: 'Look', url: link.url, next: null, launch: null, actionItem: null })
    expect((await run({ id, position: 3 }, member)).refused('BAD_USER_INPUT').extensions.field).toBe('position')
    const launches = await graph.rows('select source from launcher.launches where user_id = $1', [member.userId])
    expect(launches).toEqual([{ source: 'WORKFLOW' }])
  })

  it('shows the newest open item of the kind that the person sees', async () => {
    const { id } = await made({ steps: [action] })
    const itemOf = async () => (await run({ id }, owner)).data().runLauncherWorkflow.actionItem
    expect(await itemOf()).toBeNull()
    await seedAttention(graph, { organizationId: owner.organizationId })
    await graph.clock.advance(1000)
    const newest = await seedAttention(graph, { organizationId: owner.organizationId })
    await graph.clock.advance(1000)
    await seedAttention(graph, { organizationId: owner.organizationId, kind: 'OUTCOME_UNKNOWN' })
    await seedAttention(graph, { organizationId: outsider.organizationId })
    await seedAttention(graph, { organizationId: owner.organizationId, audience: 'person', userId: member.userId! })
    expect(await itemOf()).toEqual({ id: newest.id })
    await seedClosed(graph, newest.key)
    expect((await itemOf()).id).not.toBe(newest.id)
  })

  it('is refused to keys, and for a workflow that the person does not see', async () => {
    const { id } = await made()
    ;(await run({ id }, program)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await run({ id }, member)).refused('NOT_FOUND')
  })
})
