import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import type { ServiceTokens } from '../../../../../router/access/callers/services.ts'
import { callerOf, requireNoService, requireOperation } from '../../../../../subgraphs/providers/administration/caller.ts'
import type { ServiceOperation } from '../../../../../subgraphs/scopes.ts'
import { anonymous } from '../../../../../subgraphs/viewer.ts'
import { openDoor } from '../../../../kit/door.ts'
import { shared } from '../../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, person } from '../../../../kit/viewers.ts'

const admin = person(newId(), newId(), ['owner', 'platform_admin'])
const shape = 'id appId name operations active lastUsedAt tokens { id prefix createdAt expiresAt lastUsedAt revokedAt } createdAt version'
const change = (name: string, selection: string) =>
  `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const documents = {
  createServiceClient: change('createServiceClient', shape),
  updateServiceClient: change('updateServiceClient', shape),
  issueServiceToken: change('issueServiceToken', 'serviceClient { id } tokenId secret'),
  revokeServiceToken: change('revokeServiceToken', shape),
} as const

const attempt = (graph: Supergraph, name: keyof typeof documents, input: object, as = admin) => graph.execute(documents[name], { input }, { as })
const make = async (graph: Supergraph, appId = 'app_support', operations: readonly ServiceOperation[] = ['EMAIL', 'COMPLETIONS']) =>
  (await attempt(graph, 'createServiceClient', { appId, name: 'Support', operations })).data().createServiceClient
const issue = async (graph: Supergraph, serviceClientId: string, more: object = {}) =>
  (await attempt(graph, 'issueServiceToken', { serviceClientId, ...more })).data().issueServiceToken
const read = async (graph: Supergraph, id: string) =>
  (await graph.execute(`query ($id: ID!) { serviceClient(id: $id) { ${shape} } }`, { id }, { as: admin })).data().serviceClient

describe('G-10 a service client', () => {
  test('is created for an app, once, with sorted operations and an audit entry', async () => {
    await using graph = await supergraph()
    const input = { appId: 'app_support', name: ' Support ', operations: ['EMAIL', 'COMPLETIONS', 'EMAIL'], idempotencyKey: 'one' }
    const made = (await attempt(graph, 'createServiceClient', input)).data().createServiceClient
    expect(made).toEqual({
      id: made.id,
      ...{ appId: 'app_support', name: 'Support', operations: ['COMPLETIONS', 'EMAIL'], active: true, lastUsedAt: null, tokens: [], version: 1 },
      createdAt: graph.clock.now().toISOString(),
    })
    expect((await attempt(graph, 'createServiceClient', input)).data().createServiceClient.id).toBe(made.id)
    ;(await attempt(graph, 'createServiceClient', { ...input, idempotencyKey: 'two' })).refused('CONFLICT')
    expect(await graph.rows('select tenant_id, actor, action, subject_id, details from providers.audit_entries')).toEqual([
      {
        ...{ tenant_id: admin.organizationId, actor: `user:${admin.userId}`, action: 'service_client.created', subject_id: made.id },
        details: { appId: 'app_support', operations: 'COMPLETIONS EMAIL' },
      },
    ])
  })

  const refusing = shared(() => supergraph())
  test.each([
    ['Support', [], 'appId'],
    ['app_', [], 'appId'],
    ['app_Support', [], 'appId'],
    ['app_support', ['PAYMENTS'], 'operations'],
    ['app_launcher', ['TRANSFERS'], 'operations'],
    ['app_payments', ['VIDEO'], 'operations'],
    ['app_agents', ['NETWORK_APPLICATIONS'], 'operations'],
  ])('called %s with %j is refused', async (appId, operations, field) => {
    const graph = refusing()
    expect((await attempt(graph, 'createServiceClient', { appId, name: 'X', operations })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
    expect(await graph.rows('select from providers.service_clients')).toHaveLength(0)
  })

  test('is created once by twenty concurrent requests for one app', async () => {
    await using graph = await supergraph()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => attempt(graph, 'createServiceClient', { appId: 'app_one', name: 'One', operations: [] })),
    )
    expect(answers.filter(({ partial }) => partial.data?.createServiceClient)).toHaveLength(1)
    expect(await graph.rows('select from providers.service_clients')).toHaveLength(1)
  })

  test('changes by its version, keeps reserved operations for their apps, and is listed by age', async () => {
    await using graph = await supergraph()
    const one = await make(graph)
    await graph.clock.advance(1)
    const two = await make(graph, 'app_payments', ['PAYMENTS', 'TRANSFERS'])
    ;(await attempt(graph, 'updateServiceClient', { id: one.id, operations: ['PAYMENTS'] })).refused('BAD_USER_INPUT')
    const off = (await attempt(graph, 'updateServiceClient', { id: one.id, active: false, expectedVersion: 1 })).data().updateServiceClient
    expect(off).toMatchObject({ active: false, version: 2, operations: ['COMPLETIONS', 'EMAIL'] })
    ;(await attempt(graph, 'updateServiceClient', { id: one.id, active: true, expectedVersion: 1 })).refused('CONFLICT')
    const list = 'query ($after: String) { serviceClients(first: 1, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } totalCount } }'
    const first = (await graph.execute(list, {}, { as: admin })).data().serviceClients
    expect(first).toMatchObject({ nodes: [{ id: one.id }], totalCount: 2, pageInfo: { hasNextPage: true } })
    const next = (await graph.execute(list, { after: first.pageInfo.endCursor }, { as: admin })).data().serviceClients
    expect(next).toMatchObject({ nodes: [{ id: two.id }], pageInfo: { hasNextPage: false } })
  })

  test('is for platform admins alone', async () => {
    await using graph = await supergraph()
    const client = await make(graph)
    for (const as of [person(newId(), newId(), ['owner']), key(newId(), ['providers:org.admin'])]) {
      ;(await attempt(graph, 'createServiceClient', { appId: 'app_x', name: 'X', operations: [] }, as)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
      ;(await attempt(graph, 'issueServiceToken', { serviceClientId: client.id }, as)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    }
  })
})

describe('G-10 a token of a service client', () => {
  test('is shown once, stored as a hash, contained in no other answer, and ends when it is revoked', async () => {
    await using graph = await supergraph()
    const client = await make(graph)
    const token = await issue(graph, client.id, { idempotencyKey: 'one' })
    expect(token.secret).toMatch(/^sgs_[\w-]{43}$/)
    expect(await issue(graph, client.id, { idempotencyKey: 'one' })).toEqual({ serviceClient: { id: client.id }, tokenId: token.tokenId, secret: null })
    expect((await read(graph, client.id)).tokens).toMatchObject([{ id: token.tokenId, prefix: token.secret.slice(0, 12), revokedAt: null, expiresAt: null }])
    const kept = JSON.stringify(await graph.rows('select * from providers.service_tokens, providers.audit_entries, providers.idempotency_keys'))
    expect(kept).not.toContain(token.secret.slice(13))
    for (let turn = 0; turn < 2; turn++) await attempt(graph, 'revokeServiceToken', { id: client.id, tokenId: token.tokenId })
    expect((await read(graph, client.id)).tokens[0].revokedAt).toBe(graph.clock.now().toISOString())
    expect((await graph.rows<{ action: string }>('select action from providers.audit_entries order by action')).map(({ action }) => action)).toEqual([
      ...['service_client.created', 'service_token.issued', 'service_token.revoked'],
    ])
  })

  test('is rejected above twenty valid ones; fifty including ended ones are kept', async () => {
    await using graph = await supergraph()
    const client = await make(graph)
    for (let at = 0; at < 20; at++) await issue(graph, client.id)
    expect((await attempt(graph, 'issueServiceToken', { serviceClientId: client.id })).refused('CONFLICT').extensions.reason).toBe('QUOTA')
    await graph.rows('update providers.service_tokens set revoked_at = now()')
    for (let at = 0; at < 40; at++) {
      const { tokenId } = await issue(graph, client.id)
      if (at < 39) await attempt(graph, 'revokeServiceToken', { id: client.id, tokenId })
      else expect((await read(graph, client.id)).tokens.some(({ id }: { id: string }) => id === tokenId)).toBe(true)
    }
    expect(await graph.rows('select from providers.service_tokens')).toHaveLength(50)
  })

  test('of another client, or with an expiry in the past, is rejected', async () => {
    await using graph = await supergraph()
    const [one, two] = [await make(graph), await make(graph, 'app_mail', ['COMPLETIONS'])]
    const { tokenId } = await issue(graph, one.id)
    ;(await attempt(graph, 'revokeServiceToken', { id: two.id, tokenId })).refused('NOT_FOUND')
    ;(await attempt(graph, 'issueServiceToken', { serviceClientId: newId() })).refused('NOT_FOUND')
    ;(await attempt(graph, 'issueServiceToken', { serviceClientId: one.id, expiresAt: graph.clock.now().toISOString() })).refused('BAD_USER_INPUT')
  })

  test('calls for its app alone until it is revoked, expires, or its client is switched off; its use is noted', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const tokens: ServiceTokens = { own: new Map(), gateway: [], dedicated: [] }
    await using door = await openDoor(graph, { tokens })
    const client = await make(graph)
    await make(graph, 'app_mail', ['COMPLETIONS'])
    const { secret, tokenId } = await issue(graph, client.id)
    const ending = await issue(graph, client.id, { expiresAt: new Date(graph.clock.now().getTime() + 60_000).toISOString() })
    const call = async (token: string, appId = 'app_support', more: Record<string, string> = {}) => {
      const headers = { 'x-service-token': token, 'x-app-id': appId, 'x-organization-id': organization.id, ...more }
      const { status, json } = await door.ask('POST', '/providers/api/ai/none-such', { headers, body: {} })
      return [status, json.error?.type]
    }
    expect(await call(secret)).toEqual([404, 'invalid_request_error'])
    expect(await call(ending.secret)).toEqual([404, 'invalid_request_error'])
    for (const [token, appId] of [
      [secret, 'app_mail'],
      [secret, ''],
      [`${secret.slice(0, -4)}AAAA`, 'app_support'],
    ] as const)
      expect(await call(token, appId), appId).toEqual([401, 'authentication_error'])
    await graph.platform.providers.stop().catch(() => {})
    expect((await read(graph, client.id)).tokens.find(({ id }: { id: string }) => id === tokenId).lastUsedAt).toBe(graph.clock.now().toISOString())
    const within = (wanted: readonly unknown[], ...asked: Parameters<typeof call>) => expect.poll(() => call(...asked), { timeout: 2500 }).toEqual(wanted)
    await attempt(graph, 'revokeServiceToken', { id: client.id, tokenId })
    await within([401, 'authentication_error'], secret)
    expect(await call(ending.secret)).toEqual([404, 'invalid_request_error'])
    await attempt(graph, 'updateServiceClient', { id: client.id, active: false })
    await within([401, 'authentication_error'], ending.secret)
    await attempt(graph, 'updateServiceClient', { id: client.id, active: true })
    await within([404, 'invalid_request_error'], ending.secret)
    await graph.clock.advance(61_000)
    await within([401, 'authentication_error'], ending.secret)
  })

  test('is accepted from OpenAI’s own client in place of its key, as documented; together with another credential it is rejected', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    await using door = await openDoor(graph, { tokens: { own: new Map(), gateway: [], dedicated: [] } })
    const { secret } = await issue(graph, (await make(graph)).id)
    const through = async (url: string | URL | Request, { headers }: RequestInit = {}) => {
      const { status, json } = await door.ask('POST', new URL(String(url)).pathname, { headers: Object.fromEntries(new Headers(headers)), body: {} })
      return Response.json(json, { status })
    }
    const asked = (own: Record<string, null>) =>
      new OpenAI({
        ...{ baseURL: `${graph.publicUrl}/providers/api/ai`, apiKey: 'unused', maxRetries: 0, fetch: through },
        defaultHeaders: { ...own, 'X-Service-Token': secret, 'X-App-Id': 'app_support', 'X-Organization-Id': organization.id },
      }).post('/none-such', { body: {} })
    await expect(asked({ Authorization: null })).rejects.toThrow(OpenAI.NotFoundError)
    await expect(asked({})).rejects.toThrow('Send one credential, not several')
  })
})

describe('G-10 the account of a call', () => {
  const open = (graph: Supergraph, viewer: Parameters<Supergraph['platform']['providers']['open']>[0]) =>
    graph.platform.providers.open(viewer, { fresh: true, requestId: 'r', signal: new AbortController().signal, read() {}, statement: run => run() })
  const service = (appId: string, more: object = {}) => ({ ...anonymous, kind: 'service' as const, appId, organizationId: newId(), ...more })

  test('is for a person or a key the app that it names, if known; else the gateway itself', async () => {
    await using graph = await supergraph()
    await make(graph, 'app_on', [])
    const off = await make(graph, 'app_off', [])
    await attempt(graph, 'updateServiceClient', { id: off.id, active: false })
    const viewer = person(newId(), newId(), ['member'])
    const of = (forApp: string | null, as: object = viewer) => callerOf(open(graph, { ...viewer, ...as, forApp }))
    expect(await of(null)).toEqual({ organizationId: viewer.organizationId, userId: viewer.userId, appId: 'app_providers', operations: null })
    for (const app of ['app_on', 'app_agents']) expect((await of(app)).appId).toBe(app)
    for (const app of ['app_off', 'app_none_such', '', 'x'.repeat(80)])
      await expect(of(app), app).rejects.toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'X-App-Id' } })
    const program = key(newId(), ['providers:ai.invoke'])
    expect(await of('app_on', program)).toMatchObject({ organizationId: program.organizationId, userId: null, appId: 'app_on' })
  })

  test('is for a service itself, with its token’s operations; within the platform with its client’s, else by its scopes', async () => {
    await using graph = await supergraph()
    await make(graph, 'app_payments', ['PAYMENTS'])
    const may = async (viewer: Parameters<typeof open>[1], operation: ServiceOperation) =>
      requireOperation(open(graph, viewer), operation).then(
        () => true,
        ({ code }) => code,
      )
    expect(await may(service('app_mail', { operations: ['COMPLETIONS'] }), 'COMPLETIONS')).toBe(true)
    expect(await may(service('app_mail', { operations: ['COMPLETIONS'] }), 'IMAGES')).toBe('FORBIDDEN')
    expect(await may(service('app_payments'), 'PAYMENTS')).toBe(true)
    expect(await may(service('app_payments', { scopes: ['providers:service.invoke'] }), 'EMAIL')).toBe('FORBIDDEN')
    expect(await may(service('app_payments', { operations: [] }), 'PAYMENTS')).toBe('FORBIDDEN')
    expect(await may(service('app_agents', { scopes: ['providers:ai.invoke'] }), 'EMBEDDINGS')).toBe(true)
    expect(await may(service('app_agents', { scopes: ['providers:service.invoke'] }), 'PAYMENTS')).toBe('FORBIDDEN')
    for (const viewer of [person(newId(), newId(), ['owner']), key(newId(), ['providers:service.invoke'])]) {
      expect(await may(viewer, 'EMAIL')).toBe(true)
      for (const operation of ['PAYMENTS', 'TRANSFERS', 'VIDEO', 'NETWORK_APPLICATIONS'] as const) expect(await may(viewer, operation)).toBe('FORBIDDEN')
      expect(() => requireNoService(viewer)).not.toThrow()
    }
    expect(() => requireNoService(service('app_mail', { operations: ['COMPLETIONS'] }))).toThrow()
    expect(() => requireNoService(service('app_agents'))).not.toThrow()
    await expect(callerOf(open(graph, service('app_mail', { organizationId: null })))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
  })
})
