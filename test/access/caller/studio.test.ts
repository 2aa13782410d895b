import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { isCaller } from '../../../router/access/authenticate.ts'
import { asksForJson, createStudioCallers } from '../../../router/access/callers/studio.ts'
import type { RouteTable } from '../../../router/rest/row.ts'
import { standingOf } from '../../../subgraphs/authority.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { memoryAuthority } from '../../door/authority.ts'
import { smallGraph } from '../../door/graph.ts'
import { openRouter, schemaEngine } from '../../door/platform.ts'

const url = 'https://studio.example'
const [org, member, viewer, stranger] = [newId(), newId(), newId(), newId()]

async function studio() {
  const identity = await memoryAuthority('https://platform.example')
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  const other = await generateKeyPair('EdDSA', { extractable: true })
  const asked: string[] = []
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'EdDSA', use: 'sig' }] })
  const outbound = async (address: string) => {
    asked.push(address)
    return { status: 200, text: jwks }
  }
  const stands = (userId: string, roles: readonly string[] | null) =>
    identity.standings.set(standingOf({ organizationId: org, userId }), { organization: true, roles })
  stands(member, ['member'])
  stands(viewer, ['viewer'])
  stands(stranger, null)
  const callers = createStudioCallers(url, identity.authority, { outbound: outbound as never, clock: identity.clock, log: { warn() {} } })
  const token = (claims: JWTPayload = {}, seconds = 300, key = privateKey, alg = 'EdDSA') =>
    new SignJWT({ iss: url, aud: 'app_providers', sub: member, org, exp: Math.floor(identity.clock.now().getTime() / 1000) + seconds, ...claims })
      .setProtectedHeader({ alg, kid: 'one' })
      .sign(key)
  return {
    asked,
    jwks,
    callers,
    token,
    other,
    caller: async (...given: Parameters<typeof token>) => {
      const found = await callers.caller(await token(...given))
      return isCaller(found) ? found.viewer : found.refusal.code
    },
  }
}

describe('G-12 a token of the studio', () => {
  test('yields its person in its organization with the right to call models only; keys are fetched once', async () => {
    const { caller, asked } = await studio()
    const person = { ...anonymous, kind: 'user', userId: member, organizationId: org, context: 'organization', scopes: ['providers:ai.invoke'] }
    const first = await caller()
    expect(first).toEqual({ ...person, clientId: 'studio', forApp: 'app_studio' })
    expect(await caller({}, 900)).toBe(first)
    expect(await caller({ sub: viewer })).toMatchObject({ userId: viewer, scopes: [] })
    expect(asked).toEqual([`${url}/.well-known/jwks.json`])
  })

  test('is rejected for a person who is no member, and when anything of it is wrong', async () => {
    const { caller, other } = await studio()
    for (const claims of [{ sub: stranger }, { org: newId() }, { sub: 'nobody' }]) expect(await caller(claims)).toBe('FORBIDDEN')
    for (const claims of [{ iss: 'https://elsewhere.example' }, { aud: 'app_agents' }, { sub: undefined }, { org: undefined }] as JWTPayload[])
      expect(await caller(claims), JSON.stringify(claims)).toBe('UNAUTHENTICATED')
    for (const seconds of [-1, 0, 901, 86_400]) expect(await caller({}, seconds), `${seconds} s`).toBe('UNAUTHENTICATED')
    expect(await caller({}, 300, other.privateKey)).toBe('UNAUTHENTICATED')
    const { callers } = await studio()
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    expect(await callers.caller(`${part({ alg: 'none' })}.${part({ iss: url })}.`)).toMatchObject({ refusal: { code: 'UNAUTHENTICATED' } })
  })

  test('is recognized by its claims before any lookup', async () => {
    const { callers, token, asked } = await studio()
    expect(callers.claims(await token())).toBe(true)
    expect(callers.claims(await token({ iss: 'https://elsewhere.example' }))).toBe(false)
    for (const text of ['', 'a.b.c', 'nonsense', `${'x'.repeat(9000)}`]) expect(callers.claims(text), text.slice(0, 10)).toBe(false)
    expect(asked).toEqual([])
  })

  test.each([
    [{ response_format: { type: 'json_object' } }, true],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, true],
    [{ response_format: { type: 'text' } }, false],
    [{ messages: [] }, false],
    [null, false],
  ])('a chat of %j asks for JSON: %s', (body, wanted) => {
    expect(asksForJson(Buffer.from(JSON.stringify(body)))).toBe(wanted)
    expect(asksForJson(Buffer.from('{"response_format":'))).toBe(false)
    expect(asksForJson(undefined)).toBe(false)
  })
})

describe('G-12 a route for models', () => {
  const models = { registration: { slug: 'providers' as const }, http: async (_request: Request, { kind, userId }: Viewer) => Response.json({ kind, userId }) }
  const row = {
    kind: 'forward',
    method: '*',
    path: '/api/ai/*',
    access: { scope: 'providers:ai.invoke' },
    to: 'providers',
    why: 'stream',
    limit: 1_000,
  } as const
  const tables: readonly RouteTable[] = [
    { slug: 'providers', rows: [{ ...row, bearerKeys: true, studioAt: ['/chat/completions'], describes: { nothing: 'of a test' } }] },
  ]

  async function door() {
    const { token, jwks } = await studio()
    const outbound = (async () => ({ status: 200, text: jwks })) as never
    const platform = await openRouter(schemaEngine(smallGraph()), { subgraphs: [models], tables, studio: { url, outbound } })
    for (const [userId, role] of [
      [member, 'member'],
      [viewer, 'viewer'],
    ] as const)
      platform.standings.set(standingOf({ organizationId: org, userId }), { organization: true, roles: [role] })
    const key = { keyId: newId(), userId: null, organizationId: org, scopes: ['providers:ai.invoke'], expiresAt: null, rateLimit: 100 }
    platform.keys.set('hash of sgk_one', key)
    const ask = async (path: string, headers: Record<string, string>, type = 'json_object') => {
      const body = JSON.stringify({ response_format: { type } })
      const { status, json } = await platform.ask(`/providers/api/ai${path}`, { method: 'POST', headers, body })
      return [status, json.kind ?? json.code]
    }
    return { token, ask, [Symbol.asyncDispose]: platform.close }
  }

  test('accepts a studio token at the marked paths, for JSON only, from a person who may call models, and alone', async () => {
    await using at = await door()
    const studios = async (...claims: Parameters<typeof at.token>) => ({ authorization: `Bearer ${await at.token(...claims)}` })
    expect(await at.ask('/chat/completions', await studios())).toEqual([200, 'user'])
    expect(await at.ask('/chat/completions?a=b', await studios())).toEqual([200, 'user'])
    expect(await at.ask('/chat/completions', await studios(), 'text')).toEqual([403, 'FORBIDDEN'])
    for (const elsewhere of ['/models', '/chat/completions/x', '/chat']) expect(await at.ask(elsewhere, await studios())).toEqual([401, 'UNAUTHENTICATED'])
    expect(await at.ask('/chat/completions', await studios({ sub: viewer }))).toEqual([403, 'FORBIDDEN'])
    expect(await at.ask('/chat/completions', await studios({}, -1))).toEqual([401, 'UNAUTHENTICATED'])
    for (const beside of ['x-api-key', 'x-service-token'])
      expect(await at.ask('/chat/completions', { ...(await studios()), [beside]: 'sgk_one' })).toEqual([400, 'BAD_USER_INPUT'])
  })

  test('accepts a key as a bearer token, too, and not beside another credential', async () => {
    await using at = await door()
    const authorization = 'Bearer sgk_one'
    expect(await at.ask('/models', { authorization })).toEqual([200, 'apiKey'])
    expect(await at.ask('/models', { authorization, 'x-api-key': 'sgk_other' })).toEqual([400, 'BAD_USER_INPUT'])
    expect(await at.ask('/models', { authorization: 'Bearer sgk_other' })).toEqual([401, 'UNAUTHENTICATED'])
  })
})
