import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAsk } from '../../router/ask.ts'
import { registration as launcher } from '../../subgraphs/launcher/registration.ts'
import { mode } from '../kit/assembled.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test writes out what it expects of its document
const document = (text: string) => parse(text) as TypedDocumentNode<any, Record<string, never>>
const figures = document('{ publishingWidget { statistics { key } } viewer { kind scopes user { id } organization { id } } }')
const posts = document('{ posts { nodes { id } } }')

const asking = ({ platform }: Supergraph) =>
  createAsk(
    platform.engine,
    platform.subgraphs.map(({ registration }) => registration),
  )
const refusal = { extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' } }

describe('S-07 a service that asks the supergraph', () => {
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

  test('gets nothing that the viewer may not have', async () => {
    await using graph = await supergraph()
    const { key } = await graph.seed.owner().key('publishing:posts.read')
    await expect(asking(graph)(figures, {}, { appId: 'app_launcher', viewer: key })).rejects.toMatchObject(refusal)
  })

  test('gets nothing that it is not registered to ask for, whoever the viewer is', async () => {
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

  test('may not ask at all when it is not registered', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    await expect(asking(graph)(figures, {}, { appId: 'app_nobody', viewer: owner })).rejects.toThrow('not registered')
  })
})
