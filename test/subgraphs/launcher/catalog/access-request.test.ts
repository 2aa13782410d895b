import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { removeInstallations, seedApps } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let viewer: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  await seedApps(
    graph,
    { slug: 'help-desk', title: 'Help Desk' },
    { slug: 'time-sheet', title: 'Time Sheet' },
    { slug: 'address-check', title: 'Address Check', kind: 'technical' },
  )
})
beforeEach(async () => {
  ;({ owner, member, viewer, outsider } = await graph.seed.owner().member().viewer().outsider())
  await removeInstallations(graph)
})
afterAll(() => graph[Symbol.asyncDispose]())

const request = (as: Viewer, app = 'help-desk', more = '') =>
  graph.execute(
    `mutation { requestAccess(input: { app: "${app}"${more} }) { id app status reason requestedBy { id } version entry { accessRequest { id } } } }`,
    {},
    { as },
  )
const decide = (as: Viewer, id: string, decision = 'APPROVE', more = '') =>
  graph.execute(
    `mutation { decideAccessRequest(input: { id: "${id}", decision: ${decision}${more} }) { status comment decidedBy { id } version } }`,
    {},
    { as },
  )
const withdraw = (as: Viewer, id: string) => graph.execute(`mutation { withdrawAccessRequest(input: { id: "${id}" }) { status } }`, {}, { as })
const listed = async (as: Viewer): Promise<string[]> =>
  (await graph.execute('{ accessRequests { nodes { id } } }', {}, { as })).data().accessRequests.nodes.map(({ id }: { id: string }) => id)
const items = async (as: Viewer) =>
  (await graph.execute('{ actionItems { nodes { kind title status subject { service id } } } }', {}, { as })).data().actionItems.nodes
const installed = async (as: Viewer) => (await graph.execute('{ installations { app } }', {}, { as })).data().installations
const made = async (as: Viewer): Promise<string> => (await request(as)).data().requestAccess.id

describe('requestAccess', () => {
  it('asks the managers by an action item that names person and app; asked again it answers the first', async () => {
    const asked = (await request(member, 'help-desk', ', reason: "For questions"')).data().requestAccess
    expect(asked).toMatchObject({ app: 'help-desk', status: 'PENDING', reason: 'For questions', requestedBy: { id: member.userId }, version: 1 })
    expect(asked.entry.accessRequest.id).toBe(asked.id)
    expect((await request(member)).data().requestAccess.id).toBe(asked.id)
    expect(await items(owner)).toEqual([
      {
        kind: 'ACCESS_REQUEST',
        title: expect.stringMatching(/^Person \d+ asks for Help Desk$/),
        status: 'OPEN',
        subject: { service: 'launcher', id: asked.id },
      },
    ])
    expect(await items(member)).toEqual([])
  })

  it('makes one request of twenty at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => request(member)))
    expect(new Set(answers.map(answer => answer.data().requestAccess.id)).size).toBe(1)
    expect(await items(owner)).toHaveLength(1)
  })

  it('refuses an app that is installed or cannot be, personal context, and keys without the scope to write', async () => {
    ;(await graph.execute('mutation { installApp(input: { app: "help-desk" }) { id } }', {}, { as: owner })).data()
    expect((await request(member)).refused('CONFLICT').extensions.reason).toBe('INSTALLED')
    expect((await request(member, 'address-check')).refused('CONFLICT').extensions.reason).toBe('NOT_LAUNCHABLE')
    ;(await request(member, 'nowhere')).refused('NOT_FOUND')
    const alone = { ...personally(member), scopes: member.scopes }
    expect((await request(alone)).refused('CONFLICT').extensions.reason).toBe('CONTEXT')
    ;(await request(key(owner.organizationId!, ['launcher:apps.read']), 'time-sheet')).refused('FORBIDDEN')
    expect((await request(key(owner.organizationId!, ['launcher:apps.write']), 'time-sheet')).data().requestAccess.requestedBy).toBeNull()
  })
})

describe('decideAccessRequest', () => {
  it('counts one of twenty approvals: the app is installed once, and the action item is resolved', async () => {
    const id = await made(member)
    const answers = await Promise.all(Array.from({ length: 20 }, () => decide(owner, id, 'APPROVE', ', comment: "Fine"')))
    const won = answers.filter(answer => answer.error === undefined)
    expect(won).toHaveLength(1)
    expect(won[0]!.data().decideAccessRequest).toEqual({ status: 'APPROVED', comment: 'Fine', decidedBy: { id: owner.userId }, version: 2 })
    for (const lost of answers.filter(answer => answer.error)) expect(lost.refused('CONFLICT').extensions.reason).toBe('DECIDED')
    expect(await installed(member)).toEqual([{ app: 'help-desk' }])
    expect(await items(owner)).toEqual([])
    const actions = await graph.rows('select action from launcher.audit_entries where tenant_id = $1 order by at, action', [owner.organizationId])
    expect(actions.map(({ action }) => action).sort()).toEqual(['access_request.approved', 'access_request.created', 'app.installed'])
  })

  it('declines without installing', async () => {
    const id = await made(member)
    expect((await decide(owner, id, 'DECLINE')).data().decideAccessRequest.status).toBe('DECLINED')
    expect(await installed(member)).toEqual([])
    expect(await items(owner)).toEqual([])
    expect((await request(member)).data().requestAccess.id).not.toBe(id)
  })

  it('refuses an approval as installing would be, and leaves the request pending', async () => {
    const id = await made(member)
    await graph.rows(`update launcher.catalog_entries set lifecycle = 'RETIRED' where app = 'help-desk'`)
    expect((await decide(owner, id)).refused('CONFLICT').extensions.reason).toBe('NOT_LAUNCHABLE')
    await graph.rows(`update launcher.catalog_entries set lifecycle = 'ACTIVE' where app = 'help-desk'`)
    expect((await decide(owner, id)).data().decideAccessRequest.status).toBe('APPROVED')
  })

  it('is for holders of the scope to write, in the organization of the request', async () => {
    const id = await made(member)
    ;(await decide(member, id)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await decide(outsider, id)).refused('NOT_FOUND')
  })
})

describe('withdrawAccessRequest', () => {
  it('takes one’s own pending request back, repeatedly, and resolves its item', async () => {
    const id = await made(member)
    ;(await withdraw(viewer, id)).refused('NOT_FOUND')
    ;(await withdraw(owner, id)).refused('FORBIDDEN')
    expect((await withdraw(member, id)).data().withdrawAccessRequest.status).toBe('WITHDRAWN')
    expect((await withdraw(member, id)).data().withdrawAccessRequest.status).toBe('WITHDRAWN')
    expect(await items(owner)).toEqual([])
    expect((await decide(owner, id)).refused('CONFLICT').extensions.reason).toBe('DECIDED')
  })
})

describe('accessRequests', () => {
  it('shows managers and keys all of the organization, people their own, and others none', async () => {
    const [first, second] = [await made(member), await made(viewer)]
    expect((await listed(owner)).sort()).toEqual([first, second].sort())
    expect((await listed(key(owner.organizationId!, ['launcher:apps.read']))).sort()).toEqual([first, second].sort())
    expect(await listed(member)).toEqual([first])
    expect(await listed(outsider)).toEqual([])
  })
})
