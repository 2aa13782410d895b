import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
})
afterAll(() => graph[Symbol.asyncDispose]())

const layout = 'items { app order size hidden } boards { id name items { app } } inherited version'
const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const read = async (as: Viewer) => (await ask(as, `{ dashboardLayout { ${layout} } }`)).data().dashboardLayout
const change = (as: Viewer, name: string, input: object) => {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`
  return ask(as, `mutation($input: ${type}!) { ${name}(input: $input) { ${layout} } }`, { input })
}
const update = (as: Viewer, input: object) => change(as, 'updateDashboardLayout', input)

describe('dashboardLayout', () => {
  it('is empty before anybody has said anything', async () => {
    expect(await read(member)).toEqual({ items: [], boards: [], inherited: true, version: 0 })
  })

  it('belongs to one person in one context', async () => {
    await update(member, { items: [{ app: 'publishing', size: 'LARGE' }] })
    expect(await read(member)).toEqual({ items: [{ app: 'publishing', order: 0, size: 'LARGE', hidden: false }], boards: [], inherited: false, version: 1 })
    expect((await read(owner)).items).toEqual([])
    expect((await read({ ...personally(member), scopes: personalScopes })).items).toEqual([])
    expect((await read(outsider)).items).toEqual([])
  })

  it('is what the organization begins with until the person changes it, and again after a reset', async () => {
    ;(await change(owner, 'updateOrganizationLayout', { items: [{ app: 'agents' }], boards: [{ name: 'Money', items: [{ app: 'payments' }] }] })).data()
    expect(await read(member)).toMatchObject({ items: [{ app: 'agents' }], boards: [{ name: 'Money' }], inherited: true })
    ;(await update(member, { items: [{ app: 'publishing' }] })).data()
    expect(await read(member)).toMatchObject({ items: [{ app: 'publishing' }], boards: [{ name: 'Money' }], inherited: false })
    expect((await change(member, 'resetDashboardLayout', {})).data().resetDashboardLayout).toMatchObject({ items: [{ app: 'agents' }], inherited: true })
    expect(await read(outsider)).toMatchObject({ items: [], inherited: true })
  })
})

describe('updateDashboardLayout', () => {
  it('keeps what is left out, and replaces boards by their ids', async () => {
    const { boards } = (
      await update(member, {
        boards: [
          { name: 'One', items: [] },
          { name: 'Two', items: [{ app: 'agents' }] },
        ],
      })
    ).data().updateDashboardLayout
    expect((await update(member, { items: [{ app: 'agents' }] })).data().updateDashboardLayout.boards).toEqual(boards)
    const renamed = (await update(member, { boards: [{ id: boards[1].id, name: 'Second', items: [] }] })).data().updateDashboardLayout
    expect(renamed).toMatchObject({ items: [{ app: 'agents' }], boards: [{ id: boards[1].id, name: 'Second', items: [] }], version: 3 })
  })

  it('refuses a stale version, and a first change against a version that is not there', async () => {
    expect((await update(member, { items: [], expectedVersion: 1 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    ;(await update(member, { items: [], expectedVersion: 0 })).data()
    expect((await update(member, { items: [], expectedVersion: 0 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
  })

  it('lets one of two first changes at once win when both name version 0', async () => {
    const answers = await Promise.all([1, 2].map(order => update(member, { items: [{ app: 'agents', order }], expectedVersion: 0 })))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
  })

  it('refuses an unknown board and stores nothing', async () => {
    const answer = await update(member, { boards: [{ id: '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e', name: 'One', items: [] }] })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe('boards.id')
    expect((await read(member)).version).toBe(0)
  })
})

describe('updateOrganizationLayout', () => {
  it('is refused to members', async () => {
    ;(await change(member, 'updateOrganizationLayout', { items: [] })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })
})
