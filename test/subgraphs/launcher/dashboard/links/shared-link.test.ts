import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { personally } from '../../../../kit/viewers.ts'

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

const fields = 'id title url icon order createdBy { id } version'
const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const change = (as: Viewer, name: string, input: object) =>
  ask(as, `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`, { input })
const made = async (title: string, more: object = {}) =>
  (await change(owner, 'createSharedLink', { title, url: 'https://demo.example/rota', ...more })).data().createSharedLink
const places = async (as: Viewer): Promise<[string, number][]> =>
  (await ask(as, '{ sharedLinks { title order } }')).data().sharedLinks.map(({ title, order }: { title: string; order: number }) => [title, order])
const audits = async () =>
  (await graph.rows('select action from launcher.audit_entries where tenant_id = $1 order by at, id', [owner.organizationId])).map(({ action }) => action)

describe('sharedLinks', () => {
  it('are seen by everybody of the organization and by nobody else', async () => {
    expect(await made('Rota', { icon: 'https://demo.example/rota.png' })).toEqual({
      ...{ id: expect.any(String), title: 'Rota', url: 'https://demo.example/rota', icon: 'https://demo.example/rota.png' },
      ...{ order: 0, createdBy: { id: owner.userId }, version: 1 },
    })
    expect(await places(member)).toEqual([['Rota', 0]])
    expect(await places(outsider)).toEqual([])
    const alone = { ...personally(member), scopes: personalScopes }
    expect((await ask(alone, '{ sharedLinks { id } }')).refused('CONFLICT').extensions.reason).toBe('CONTEXT')
  })
})

describe('createSharedLink', () => {
  it('is refused to members, and for addresses that are none', async () => {
    ;(await change(member, 'createSharedLink', { title: 'x', url: 'https://demo.example/' })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    const wrong = (more: object) => change(owner, 'createSharedLink', { title: 'x', url: 'https://demo.example/', ...more })
    expect((await wrong({ url: 'ftp://demo.example/' })).refused('BAD_USER_INPUT').extensions.field).toBe('url')
    expect((await wrong({ icon: 'http://demo.example/x.png' })).refused('BAD_USER_INPUT').extensions.field).toBe('icon')
    expect((await wrong({ title: ' ' })).refused('BAD_USER_INPUT').extensions.field).toBe('title')
    expect([await places(owner), await audits()]).toEqual([[], []])
  })

  it('refuses the 51st, also of several at once', async () => {
    for (let at = 0; at < 48; at += 1) await made(`n${at}`)
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(title => change(owner, 'createSharedLink', { title, url: 'https://demo.example/' })))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(2)
    for (const lost of answers.filter(({ error }) => error)) expect(lost.refused('CONFLICT').extensions.reason).toBe('LIMIT')
  })

  it('makes one link for one key', async () => {
    const [first, again] = [await made('Rota', { idempotencyKey: 'a' }), await made('Rota', { idempotencyKey: 'a' })]
    expect(again.id).toBe(first.id)
    expect(await audits()).toEqual(['shared_link.created'])
  })
})

describe('updateSharedLink', () => {
  it('changes what it mentions, and moves the others along', async () => {
    const [first] = [await made('One', { icon: 'https://demo.example/x.png' }), await made('Two'), await made('Three')]
    const update = (input: object) => change(owner, 'updateSharedLink', { id: first.id, ...input })
    expect((await update({ title: 'First', order: 1 })).data().updateSharedLink).toMatchObject({ title: 'First', icon: first.icon, order: 1, version: 2 })
    expect(await places(member)).toEqual([
      ['Two', 0],
      ['First', 1],
      ['Three', 2],
    ])
    expect((await update({ order: 99, icon: null })).data().updateSharedLink).toMatchObject({ icon: null, order: 2, version: 3 })
    expect((await update({ order: -1 })).refused('BAD_USER_INPUT').extensions.field).toBe('order')
    expect((await update({ title: 'First', order: 2 })).data().updateSharedLink.version).toBe(3)
    expect((await audits()).filter(action => action === 'shared_link.updated')).toHaveLength(2)
  })

  it('refuses a stale version, another organization and members', async () => {
    const { id } = await made('One')
    expect((await change(owner, 'updateSharedLink', { id, title: 'x', expectedVersion: 2 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    ;(await change(outsider, 'updateSharedLink', { id, title: 'x' })).refused('NOT_FOUND')
    ;(await change(member, 'updateSharedLink', { id, title: 'x' })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect(await places(owner)).toEqual([['One', 0]])
  })
})

describe('deleteSharedLink', () => {
  it('removes a link and closes its gap; not of another organization, nor of another version', async () => {
    const [first, second] = [await made('One'), await made('Two')]
    ;(await change(outsider, 'deleteSharedLink', { id: first.id })).refused('NOT_FOUND')
    ;(await change(owner, 'deleteSharedLink', { id: first.id, expectedVersion: 7 })).refused('CONFLICT')
    expect((await change(owner, 'deleteSharedLink', { id: first.id, expectedVersion: 1 })).data().deleteSharedLink.id).toBe(first.id)
    expect(await places(member)).toEqual([['Two', 0]])
    const answers = await Promise.all([0, 1].map(order => change(owner, order ? 'updateSharedLink' : 'deleteSharedLink', { id: second.id })))
    expect(answers.some(({ error }) => error === undefined)).toBe(true)
    expect(await places(member)).toEqual([])
  })
})
