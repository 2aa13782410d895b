import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { type Caller, createAuthenticate, isCaller, type Unauthenticated } from '../../../router/access/authenticate.ts'
import { createServiceCallers, type ServiceTokens } from '../../../router/access/callers/services.ts'
import { readAccessTable } from '../../../router/access/rules.ts'
import { createHosts } from '../../../router/hosts.ts'
import { registration as agents } from '../../../subgraphs/agents/registration.ts'
import { standingOf } from '../../../subgraphs/authority.ts'
import { registration as launcher } from '../../../subgraphs/launcher/registration.ts'
import { registration as payments } from '../../../subgraphs/payments/registration.ts'
import { registration as providers } from '../../../subgraphs/providers/registration.ts'
import { registration as publishing } from '../../../subgraphs/publishing/registration.ts'
import { anonymous, isService } from '../../../subgraphs/viewer.ts'
import { memoryAuthority } from '../../door/authority.ts'

const origin = 'https://platform.example'
const token = (name: string) => name.padEnd(32, '-')
const tokens: ServiceTokens = {
  own: new Map([
    ['app_launcher', [token('launcher'), token('the next of launcher')]],
    ['app_agents', [token('agents')]],
    ['app_publishing', [token('publishing')]],
    ['app_stranger', [token('stranger')]],
  ]),
  gateway: [token('primary'), token('staged')],
  dedicated: [
    { appId: 'app_settlement', at: 'payments', token: token('settlement') },
    { appId: 'app_support', at: 'providers', token: token('support') },
    { appId: 'app_agents', at: 'publishing', token: token('agents at publishing') },
    { appId: 'app_settlement', at: 'launcher', token: token('settlement at launcher') },
  ],
}
/** The launcher, which lets an app that is no service read what is personal, and more. */
const lending = { ...launcher, grants: { app_settlement: ['launcher:settings.read', 'launcher:api_keys.write'] } as const }
const [org, person, stranger, nobody] = [newId(), newId(), newId(), newId()]

async function door() {
  const identity = await memoryAuthority(origin)
  let elapsed = 0
  const time = () => elapsed
  const services = createServiceCallers(tokens, [lending, agents, payments, providers, publishing], identity.authority, identity.gateway, time)
  const log = { error: () => {} }
  const authenticate = createAuthenticate(identity.authority, createHosts(origin, []), identity.clock, log as never, time, { byServiceToken: services })
  const stands = (organizationId: string | null, userId: string | null, standing: { organization: boolean; roles: readonly string[] | null }) =>
    identity.standings.set(standingOf({ organizationId, userId }), standing)
  stands(org, null, { organization: true, roles: null })
  stands(org, person, { organization: true, roles: ['viewer'] })
  stands(org, stranger, { organization: true, roles: null })
  stands(org, nobody, { organization: true, roles: null })
  stands(null, person, { organization: false, roles: [] })
  const ask = (name: string, appId: string | null, more: Record<string, string> = {}) =>
    authenticate(new Headers({ 'x-service-token': token(name), ...(appId !== null && { 'x-app-id': appId }), ...more }), { safe: false })
  return {
    ...identity,
    stands,
    pass: (milliseconds: number) => {
      elapsed += milliseconds
    },
    ask,
    caller: async (...asked: Parameters<typeof ask>) => {
      const result = await ask(...asked)
      if (!isCaller(result)) throw result.refusal
      return result as Caller
    },
    refused: async (...asked: Parameters<typeof ask>) => {
      const result = await ask(...asked)
      return isCaller(result) ? 'nothing' : (result as Unauthenticated).refusal.code
    },
  }
}

describe('a service', () => {
  test('G-10 has its app’s registered scopes, with every token of the app', async () => {
    const { caller } = await door()
    const viewer = { ...anonymous, kind: 'service', appId: 'app_launcher', scopes: launcher.asks.toSorted(), operations: [] }
    for (const name of ['launcher', 'the next of launcher']) expect((await caller(name, 'app_launcher')).viewer).toEqual(viewer)
  })

  test.each([
    ['no app', 'launcher', null],
    ['an empty app', 'launcher', ''],
    ['another app', 'launcher', 'app_agents'],
    ['an app that is not registered', 'stranger', 'app_stranger'],
    ['an app by another case', 'launcher', 'APP_LAUNCHER'],
    ['a wrong token', 'lancher', 'app_launcher'],
    ['a token that begins alike', 'launcher--------------------------', 'app_launcher'],
    ['the token of the gateway and an app that nobody knows', 'primary', 'app_nowhere'],
    ['the token of the gateway and an app of a single service', 'primary', 'app_settlement'],
    ['a dedicated token and another app', 'settlement', 'app_launcher'],
    ['a dedicated token of an app that is no client of the gateway', 'support', 'app_support'],
    ['a token that looks issued and is not', 'sgs_unknown', 'app_agents'],
  ])('is nobody with %s, and nothing says what was wrong', async (_what, name, appId) => {
    const { ask, refused } = await door()
    expect(await refused(name, appId)).toBe('UNAUTHENTICATED')
    const { refusal } = (await ask(name, appId)) as Unauthenticated
    expect(refusal.message).toBe('The X-Service-Token is not valid for the app in X-App-Id: send a token of that app, and its app id.')
  })

  test('G-10 with the gateway’s token has its registered rights there, and none anywhere else', async () => {
    const { caller } = await door()
    for (const name of ['primary', 'staged']) {
      expect((await caller(name, 'app_agents')).viewer.scopes).toEqual(['providers:ai.invoke'])
      expect((await caller(name, 'app_payments')).viewer.scopes).toEqual(['providers:service.invoke'])
    }
  })

  test('cannot administer an organization at the gateway with any token, on any behalf', async () => {
    const { caller, stands } = await door()
    stands(org, nobody, { organization: true, roles: ['owner'] })
    expect(publishing.asks).toContain('providers:org.admin')
    for (const name of ['publishing', 'primary', 'staged'])
      for (const more of [{}, { 'x-organization-id': org }, { 'x-organization-id': org, 'x-on-behalf-of': nobody }]) {
        const { scopes } = (await caller(name, 'app_publishing', more)).viewer
        expect(scopes).toContain('providers:ai.invoke')
        expect(scopes).not.toContain('providers:org.admin')
      }
  })

  test('with a token for one service only has that service’s scopes', async () => {
    const { caller } = await door()
    expect((await caller('settlement', 'app_settlement')).viewer.scopes).toEqual(['payments:settlements.write'])
    expect((await caller('agents at publishing', 'app_agents')).viewer.scopes).toEqual(['publishing:posts.read', 'publishing:posts.write'])
  })

  test('is a service everywhere by the token of its app alone, and by a token for one service only there', async () => {
    const { caller, clients } = await door()
    clients.set('app_support', { appId: 'app_support', active: true, operations: ['COMPLETIONS'] })
    const of = async (name: string, appId: string) => {
      const { viewer } = await caller(name, appId, { 'x-on-behalf-of': person, 'x-organization-id': org })
      return [viewer.onlyAt, isService(viewer)]
    }
    expect(await of('launcher', 'app_launcher')).toEqual([null, true])
    expect(await of('primary', 'app_launcher')).toEqual(['providers', false])
    expect(await of('support', 'app_support')).toEqual(['providers', false])
    expect(await of('agents at publishing', 'app_agents')).toEqual(['publishing', false])
  })

  test('is checked by a resolver where a field is for services and has no scope: a new one is added here with its check', () => {
    const table = readAccessTable(readFileSync('schema/supergraph.graphql', 'utf8'))
    const unscoped = [...table.fields]
      .filter(([type]) => Object.values(table.roots).includes(type))
      .flatMap(([type, fields]) => [...fields].map(([field, { all }]) => ({ name: `${type}.${field}`, all })))
      .filter(({ all }) => all.some(each => each.kind === 'policies' && each.any.flat().includes('service')) && all.every(({ kind }) => kind !== 'scopes'))
      .map(({ name }) => name)
    // Each of them refuses a viewer that is not `isService`.
    expect(unscoped.sort()).toEqual([
      'Mutation.createHandoff',
      'Mutation.reconcileSeats',
      'Mutation.renewConnection',
      'Query.accountOf',
      'Query.apiKeyMaker',
      'Query.contactOf',
      'Query.handoff',
      'Query.memberRights',
      'Query.membershipsOf',
      'Query.personWithContact',
    ])
  })

  test('G-10 that is an active client of the gateway has the client’s rights, until it is disabled', async () => {
    const { caller, refused, clients, pass } = await door()
    clients.set('app_support', { appId: 'app_support', active: true, operations: ['COMPLETIONS'] })
    for (const name of ['support', 'primary']) expect((await caller(name, 'app_support')).viewer.scopes).toEqual(['providers:ai.invoke'])
    clients.set(`hash of ${token('sgs_issued')}`, { appId: 'app_support', active: true, operations: ['COMPLETIONS', 'EMAIL'] })
    const issued = await caller('sgs_issued', 'app_support')
    expect([issued.viewer.scopes, issued.viewer.operations]).toEqual([
      ['providers:ai.invoke', 'providers:service.invoke'],
      ['COMPLETIONS', 'EMAIL'],
    ])
    expect(await refused('sgs_issued', 'app_agents')).toBe('UNAUTHENTICATED')
    clients.clear()
    pass(1000)
    for (const name of ['support', 'primary', 'sgs_issued']) expect(await refused(name, 'app_support'), name).toBe('UNAUTHENTICATED')
  })

  test('G-10 with a disabled client is rejected at the gateway, registered or not', async () => {
    const { caller, refused, clients, pass } = await door()
    for (const appId of ['app_support', 'app_agents']) clients.set(appId, { appId, active: false, operations: ['COMPLETIONS'] })
    clients.set(`hash of ${token('sgs_issued')}`, { appId: 'app_support', active: false, operations: ['COMPLETIONS'] })
    expect(await refused('primary', 'app_agents')).toBe('UNAUTHENTICATED')
    for (const name of ['support', 'primary', 'sgs_issued']) expect(await refused(name, 'app_support'), name).toBe('UNAUTHENTICATED')
    // Elsewhere the service has the scopes of its registration.
    expect((await caller('agents', 'app_agents')).viewer).toMatchObject({ scopes: agents.asks.toSorted(), operations: [] })
    clients.delete('app_agents')
    pass(1000)
    expect((await caller('primary', 'app_agents')).viewer).toMatchObject({ scopes: ['providers:ai.invoke'], operations: [] })
  })

  test('G-10 gets no reserved operation by a token that several apps share, and all of its own by its own token', async () => {
    const { caller, clients } = await door()
    clients.set('app_payments', { appId: 'app_payments', active: true, operations: ['PAYMENTS', 'TRANSFERS', 'EMAIL'] })
    clients.set('app_stranger', { appId: 'app_stranger', active: true, operations: ['COMPLETIONS'] })
    clients.set('app_launcher', { appId: 'app_launcher', active: true, operations: ['PAYMENTS'] })
    for (const name of ['primary', 'staged']) expect((await caller(name, 'app_payments')).viewer.operations, name).toEqual(['EMAIL'])
    expect((await caller('stranger', 'app_stranger')).viewer).toMatchObject({
      onlyAt: 'providers',
      operations: ['COMPLETIONS'],
      scopes: ['providers:ai.invoke'],
    })
    const own = await caller('launcher', 'app_launcher')
    expect(own.viewer).toMatchObject({ onlyAt: null, operations: ['PAYMENTS'] })
    expect(own.viewer.scopes).toEqual([...new Set([...launcher.asks, 'providers:service.invoke'])].sort())
  })

  test('with a token for every service continues while the gateway is unavailable, with its last known client', async () => {
    const { caller, ask, clients, fail, pass } = await door()
    clients.set('app_launcher', { appId: 'app_launcher', active: true, operations: ['PAYMENTS'] })
    expect((await caller('launcher', 'app_launcher')).viewer.operations).toEqual(['PAYMENTS'])
    fail(true)
    pass(1000)
    const { viewer, credential } = await caller('launcher', 'app_launcher')
    expect(viewer.operations).toEqual(['PAYMENTS'])
    expect(await credential.stands!()).toBe(true)
    await expect(ask('primary', 'app_launcher')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  })

  test('acts in the named organization; an unknown one is NOT_FOUND', async () => {
    const { caller, refused } = await door()
    const { viewer } = await caller('launcher', 'app_launcher', { 'x-organization-id': org })
    expect(viewer).toMatchObject({ organizationId: org, userId: null, onBehalfOf: null, roles: [], context: 'organization', scopes: launcher.asks.toSorted() })
    for (const id of [newId(), 'no id', '*']) expect(await refused('launcher', 'app_launcher', { 'x-organization-id': id }), id).toBe('NOT_FOUND')
  })

  test('acts on behalf of a member with no more than the member’s rights; never of anybody else', async () => {
    const { ask, caller, stands, pass } = await door()
    const behalf = (userId: string) => ({ 'x-organization-id': org, 'x-on-behalf-of': userId })
    const { viewer } = await caller('agents', 'app_agents', behalf(person))
    expect(viewer).toMatchObject({
      kind: 'service',
      appId: 'app_agents',
      organizationId: org,
      userId: person,
      onBehalfOf: person,
      roles: [],
      scopes: ['payments:payments.read', 'publishing:posts.read'],
    })
    stands(org, person, { organization: true, roles: ['owner'] })
    pass(1000)
    expect((await caller('agents', 'app_agents', behalf(person))).viewer.scopes).toEqual(agents.asks.toSorted())
    for (const id of [stranger, nobody, 'no id']) {
      const result = (await ask('agents', 'app_agents', behalf(id))) as Unauthenticated
      expect([result.refusal.code, result.refusal.extensions.reason], id).toEqual(['FORBIDDEN', 'DELEGATION'])
    }
  })

  test('acts without an organization on behalf of any person, as in personal context', async () => {
    const { ask, caller } = await door()
    const { viewer } = await caller('launcher', 'app_launcher', { 'x-on-behalf-of': person })
    expect(viewer).toMatchObject({ organizationId: null, context: 'personal', userId: person, scopes: [] })
    const of = await caller('settlement at launcher', 'app_settlement', { 'x-on-behalf-of': person })
    expect(of.viewer.scopes).toEqual(['launcher:settings.read'])
    const result = (await ask('launcher', 'app_launcher', { 'x-on-behalf-of': newId() })) as Unauthenticated
    expect(result.refusal.extensions).toMatchObject({ code: 'FORBIDDEN', reason: 'DELEGATION' })
  })

  test('is the same viewer object while nothing changes, and invalid once it would be another', async () => {
    const { caller, stands, pass } = await door()
    const behalf = { 'x-organization-id': org, 'x-on-behalf-of': person }
    const { viewer, credential } = await caller('launcher', 'app_launcher', behalf)
    expect((await caller('launcher', 'app_launcher', behalf)).viewer).toBe(viewer)
    pass(1)
    expect(await credential.stands!()).toBe(true)
    stands(org, person, { organization: true, roles: null })
    // Streams are checked once a second and end within two: an earlier answer is too old.
    pass(1)
    expect(await credential.stands!()).toBe(false)
  })

  test('together with another credential is rejected, and while identity is unavailable all are', async () => {
    const { refused, ask, fail, pass } = await door()
    expect(await refused('launcher', 'app_launcher', { 'x-api-key': 'k' })).toBe('BAD_USER_INPUT')
    fail(true)
    pass(1000)
    await expect(ask('launcher', 'app_launcher', { 'x-organization-id': org })).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  })
})

describe('a service that calls for a person', () => {
  test('has its own scopes and names a member of the organization, and nobody else', async () => {
    const { caller, refused } = await door()
    const inOrg = { 'x-organization-id': org }
    const { viewer } = await caller('agents', 'app_agents', { ...inOrg, 'x-for-user': person })
    expect(viewer).toMatchObject({ userId: null, onBehalfOf: null, forUser: person, scopes: agents.asks.toSorted() })
    for (const other of [stranger, newId(), 'ada']) expect(await refused('agents', 'app_agents', { ...inOrg, 'x-for-user': other })).toBe('FORBIDDEN')
    expect(await refused('agents', 'app_agents', { 'x-for-user': person })).toBe('FORBIDDEN')
    expect(await refused('agents', 'app_agents', { ...inOrg, 'x-for-user': person, 'x-on-behalf-of': person })).toBe('BAD_USER_INPUT')
  })

  test('is rejected within a second of the end of the membership', async () => {
    const { caller, refused, stands, pass } = await door()
    const asked = ['agents', 'app_agents', { 'x-organization-id': org, 'x-for-user': person }] as const
    await caller(...asked)
    stands(org, person, { organization: true, roles: null })
    pass(1001)
    expect(await refused(...asked)).toBe('FORBIDDEN')
  })
})
