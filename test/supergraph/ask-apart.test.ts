import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { parse } from 'graphql'
import { afterEach, expect, test } from 'vitest'
import { createRemoteAsk, type Seals, serveAsk } from '../../router/apart/ask.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { createRouter } from '../../router/router.ts'
import { registration as launcher } from '../../subgraphs/launcher/registration.ts'
import { freePort } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test writes out what it expects of its document
const document = (text: string) => parse(text) as TypedDocumentNode<any, Record<string, never>>
const who = document('{ viewer { kind scopes user { id } organization { id } } }')
const token = 'a token that only the launcher and routers know'
const tokenOfPublishing = 'a token that only publishing and routers know'

let opened = new AsyncDisposableStack()
afterEach(async () => {
  const closing = opened
  opened = new AsyncDisposableStack()
  await closing.disposeAsync()
})

/** A router that takes questions, and a job of a service that asks: nobody's request stands behind it, so it was sent no seal. */
async function jobs() {
  const graph = opened.use(await supergraph())
  const { engine, identity, subgraphs } = graph.platform
  const port = await freePort()
  const router = await createRouter({
    engine,
    authority: identity.authority,
    subgraphs,
    host: 'localhost',
    port,
    publicUrl: `http://localhost:${port}`,
    environment: 'development',
    clock: graph.clock,
    log: graph.job.log,
    readiness: [],
    extend: app =>
      serveAsk(app, {
        engine,
        authority: identity.authority,
        documents: createDocuments(engine.schema, { introspection: false }),
        registrations: subgraphs.map(({ registration }) => registration),
        keys: [],
        clock: graph.clock,
        tokens: new Map([
          ['app_launcher', ['the token before it of the launcher', token]],
          ['app_publishing', [tokenOfPublishing]],
        ]),
      }),
  })
  await router.listen()
  opened.defer(() => router.close())
  const unsent: Pick<Seals, 'of'> = { of: () => undefined }
  const asking = (own: string | null) => createRemoteAsk([`http://localhost:${port}`], unsent as Seals, own)
  return { graph, asking }
}

test('S-07 a job calls with its service’s token, for its organization and person, within the service’s registration', async () => {
  const { graph, asking } = await jobs()
  const { owner } = await graph.seed.owner().brand()
  const viewer = { userId: owner.userId, organizationId: owner.organizationId, roles: [], scopes: owner.scopes, context: 'organization' as const }
  const mine = { kind: 'SERVICE', scopes: [...launcher.asks].sort(), user: { id: owner.userId }, organization: { id: owner.organizationId } }
  expect(await asking(token)(who, {}, { appId: 'app_launcher', viewer })).toEqual({ viewer: mine })
  const nobody = { ...viewer, userId: null, scopes: ['publishing:dashboard.read'] }
  expect(await asking(token)(who, {}, { appId: 'app_launcher', viewer: nobody })).toEqual({
    viewer: { ...mine, user: null, scopes: ['publishing:dashboard.read'] },
  })
  await expect(asking(token)(document('{ posts { nodes { id } } }'), {}, { appId: 'app_launcher', viewer })).rejects.toMatchObject({
    extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' },
  })
})

test('cannot administer an organization at the gateway by its token, on whatever behalf', async () => {
  const { graph, asking } = await jobs()
  const { owner } = await graph.seed.owner()
  const { userId, organizationId, scopes } = owner
  expect(scopes).toContain('providers:org.admin')
  const viewer = { userId, organizationId, roles: ['owner'], scopes, context: 'organization' as const }
  const answer = await asking(tokenOfPublishing)(who, {}, { appId: 'app_publishing', viewer })
  expect(answer.viewer.scopes).toEqual(['agents:knowledge.read', 'providers:ai.invoke', 'providers:service.invoke'])
})

test.for([
  ['without a token', null, 'app_launcher'],
  ['with another token', token.replace('a', 'b'), 'app_launcher'],
  ['with the token of another service', token, 'app_publishing'],
  ['for an app that there is not', token, 'app_nobody'],
] as const)('%s nobody asks for somebody whom the router did not send', async ([, own, appId]) => {
  const { graph, asking } = await jobs()
  const { owner } = await graph.seed.owner()
  await expect(asking(own)(who, {}, { appId, viewer: owner })).rejects.toThrow(own ? /answered 401/ : /APP_SERVICE_TOKENS/)
})

test('a job calls on behalf of a member over HTTP too, and is rejected for anybody else and together with a person as viewer', async () => {
  const { graph, asking } = await jobs()
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  const viewer = { userId: null, organizationId: owner.organizationId, roles: [], scopes: [...launcher.asks].sort(), context: 'organization' as const }
  const ask = asking(token)
  const mine = { kind: 'SERVICE', scopes: [...launcher.asks].sort(), user: null, organization: { id: owner.organizationId } }
  expect(await ask(who, {}, { appId: 'app_launcher', viewer, forUser: member.userId })).toEqual({ viewer: mine })
  await expect(ask(who, {}, { appId: 'app_launcher', viewer, forUser: outsider.userId })).rejects.toMatchObject({ extensions: { code: 'FORBIDDEN' } })
  await expect(ask(who, {}, { appId: 'app_launcher', viewer: { ...viewer, userId: owner.userId }, forUser: member.userId })).rejects.toMatchObject({
    extensions: { code: 'BAD_USER_INPUT', field: 'X-For-User' },
  })
})

test('a service may send larger operations than other callers: a mail with attachments', async () => {
  const { graph, asking } = await jobs()
  const { owner } = await graph.seed.owner().brand()
  const viewer = { userId: null, organizationId: owner.organizationId, roles: [], scopes: owner.scopes, context: 'organization' as const }
  const named = parse('query($slug: String!) { service(slug: $slug) { id } }') as TypedDocumentNode<object, { slug: string }>
  const ask = (bytes: number) => asking(token)(named, { slug: 'x'.repeat(bytes) }, { appId: 'app_launcher', viewer })
  expect(await ask(14_000_000)).toEqual({ service: null })
  await expect(ask(17_000_000)).rejects.toThrow()
})
