import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { createIsMember } from '../../router/access/known/members.ts'
import { createAsk } from '../../router/within/ask.ts'
import { registration as launcher } from '../../subgraphs/launcher/registration.ts'
import { mode } from '../kit/assembled.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { seedDomain, seedIdentity } from '../subgraphs/providers/email/seed.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test writes out what it expects of its document
const document = (text: string) => parse(text) as TypedDocumentNode<any, Record<string, never>>
const figures = document('{ publishingWidget { statistics { key } } viewer { kind scopes user { id } organization { id } } }')
const posts = document('{ posts { nodes { id } } }')

const asking = ({ platform }: Supergraph) =>
  createAsk(
    platform.engine,
    platform.subgraphs.map(({ registration }) => registration),
    createIsMember(platform.identity.authority),
  )
const refusal = { extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' } }

describe('S-07 a service that calls the supergraph', () => {
  test('acts for the viewer, in the viewer’s organization, with the scopes that both of them have', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner().brand().post()
    const answer = await asking(graph)(figures, {}, { appId: 'app_launcher', viewer: owner })
    expect(answer.viewer).toEqual({
      kind: 'SERVICE',
      scopes: [...launcher.asks].sort(),
      user: { id: owner.userId },
      organization: { id: owner.organizationId },
    })
    expect(answer.publishingWidget.statistics).toHaveLength(3)
  })

  test('gets nothing that the viewer may not read', async () => {
    await using graph = await supergraph()
    const { key } = await graph.seed.owner().key('publishing:posts.read')
    await expect(asking(graph)(figures, {}, { appId: 'app_launcher', viewer: key })).rejects.toMatchObject(refusal)
  })

  test('gets nothing outside its registration, whoever the viewer is', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner().brand().post()
    await expect(asking(graph)(posts, {}, { appId: 'app_launcher', viewer: owner })).rejects.toMatchObject(refusal)
    await expect(asking(graph)(figures, {}, { appId: 'app_publishing', viewer: owner })).rejects.toMatchObject(refusal)
  })

  test.runIf(mode === 'embedded')('is told what broke with its cause, by which the log knows that the database is away', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner().brand().post()
    await graph.database.sequelize.query('alter table publishing.posts rename to gone')
    await expect(asking(graph)(figures, {}, { appId: 'app_launcher', viewer: owner })).rejects.toMatchObject({ cause: { parent: { code: '42P01' } } })
  })

  test('may not call at all when it is not registered', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    await expect(asking(graph)(figures, {}, { appId: 'app_nobody', viewer: owner })).rejects.toThrow('not registered')
  })
})

describe('a call for a person', () => {
  const send = document('mutation { sendEmail(input: { to: ["ada@example.com"], subject: "Welcome", text: "Hello.", idempotencyKey: "welcome" }) { status } }')

  /** The launcher as a job makes it: with what it is registered for, for the organization alone. */
  async function world() {
    const graph = await supergraph()
    await seedIdentity(graph, await seedDomain(graph, { organizationId: null, domain: 'platform.test' }), { localPart: 'no-reply', isDefault: true })
    const { owner, member, outsider } = await graph.seed.owner().member().outsider()
    const job = { userId: null, organizationId: owner.organizationId, roles: [], scopes: [...launcher.asks].sort(), context: 'organization' as const }
    return { graph, owner, member, outsider, job }
  }

  test('is attributed to the person and runs with the service’s own scopes, which the person does not restrict', async () => {
    const { graph, member, job } = await world()
    await using _ = graph
    expect(member.scopes).not.toContain('providers:service.invoke')
    const answer = await asking(graph)(send, {}, { appId: 'app_launcher', viewer: job, forUser: member.userId })
    expect(answer).toEqual({ sendEmail: { status: 'QUEUED' } })
    const { viewer } = await asking(graph)(document('{ viewer { scopes user { id } } }'), {}, { appId: 'app_launcher', viewer: job, forUser: member.userId })
    expect(viewer).toEqual({ scopes: job.scopes, user: null })
    expect(await graph.rows('select app_id, user_id from providers.calls')).toEqual([{ app_id: 'app_launcher', user_id: member.userId }])
  })

  test('is rejected for a person who is no member, without an organization, and together with a person as viewer', async () => {
    const { graph, owner, member, outsider, job } = await world()
    await using _ = graph
    const refused = (forUser: string, viewer: object = job) =>
      expect(asking(graph)(send, {}, { appId: 'app_launcher', viewer: viewer as typeof job, forUser })).rejects
    for (const nobody of [outsider.userId!, newId(), 'ada']) await refused(nobody).toMatchObject({ code: 'FORBIDDEN', extensions: { reason: 'DELEGATION' } })
    await refused(member.userId!, { ...job, organizationId: null, context: 'personal' }).toMatchObject({ code: 'FORBIDDEN' })
    await refused(member.userId!, owner).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'X-For-User' } })
    expect(await graph.rows('select 1 from providers.calls')).toEqual([])
  })
})
