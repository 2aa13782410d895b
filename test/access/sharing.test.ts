import { createHash } from 'node:crypto'
import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { openEngine } from '../../router/start/engine.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Answer, openRouter } from '../door/platform.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose, type Part, testGraph } from '../engine/supergraph-fixture.ts'
import { anonymous, keyed, signedIn } from './supergraph.ts'

const parts: Record<string, Part> = {
  publishing: {
    sdl: `type Query {
        open: String
        post: Post
        anything: [Anything]
        machines: [Machine]
      }
      type Post @key(fields: "id") @requiresScopes(scopes: [["publishing:posts.read"]]) { id: ID! copy: String brand: Brand }
      type Brand @key(fields: "id") @requiresScopes(scopes: [["publishing:accounts.read"]]) { id: ID! name: String mail: String @policy(policies: [["person"]]) }
      union Anything = Post | Brand
      interface Machine { name: String }
      type Lathe implements Machine { name: String secret: String @policy(policies: [["organization_admin"]]) }
      type Robot implements Machine { name: String }`,
    resolvers: {
      Query: {
        open: () => 'open',
        post: () => ({ id: 'p1' }),
        anything: () => [
          { __typename: 'Post', id: 'p1' },
          { __typename: 'Brand', id: 'b1' },
        ],
        machines: () => [
          { __typename: 'Lathe', name: 'Ada', secret: 'said' },
          { __typename: 'Robot', name: 'Rob' },
        ],
      },
      Post: { copy: ({ id }: { id: string }) => `copy of ${id}`, brand: () => ({ id: 'b1' }) },
      Brand: { name: () => 'Brand', mail: () => 'brand@example.test' },
    },
  },
}
const supergraphSdl = compose(parts)
const query = `{ open post { copy brand { name mail } } anything { ... on Post { copy } ... on Brand { name mail } } machines { name ... on Lathe { secret } } }`
const brand = { name: 'Brand', mail: 'brand@example.test' }
const [lathe, robot] = [{ name: 'Ada', secret: 'said' }, { name: 'Rob' }]
const closed = [{ ...lathe, secret: null }, robot]

/** What each viewer has of the query, and nobody else. */
const seen = {
  nobody: { open: 'open', post: null, anything: null, machines: closed },
  reader: { open: 'open', post: { copy: 'copy of p1', brand: null }, anything: [{ copy: 'copy of p1' }, { name: null, mail: null }], machines: closed },
  key: {
    open: 'open',
    post: { copy: 'copy of p1', brand: { ...brand, mail: null } },
    anything: [{ copy: 'copy of p1' }, { ...brand, mail: null }],
    machines: closed,
  },
  member: { open: 'open', post: { copy: 'copy of p1', brand }, anything: [{ copy: 'copy of p1' }, brand], machines: closed },
  owner: { open: 'open', post: { copy: 'copy of p1', brand }, anything: [{ copy: 'copy of p1' }, brand], machines: [lathe, robot] },
}

const log = { error() {}, warn() {} }

describe.each(['native', 'apollo'] as const)('S-07 viewers who ask the same at the same time, ROUTER_ENGINE=%s', kind => {
  const supergraph = readSupergraph(supergraphSdl)
  const open = () => openEngine(kind, { supergraphSdl: supergraph, transport: testGraph(parts).transport, access: createAccessFilter(supergraph.access), log })

  test('each get their own answer over HTTP, by POST, GET and hash, and no cache may store it', async () => {
    await using platform = await openRouter(await open(), {
      prepare: async identity => {
        identity.signIn('owner', { roles: ['owner'] })
        identity.signIn('member', { roles: ['member'] })
        for (const [name, scopes] of [
          ['reader', ['publishing:posts.read']],
          ['key', ['publishing:accounts.read', 'publishing:posts.read']],
        ] as const)
          identity.keys.set(`hash of ${name}`, { keyId: name, organizationId: 'org-1', userId: null, rateLimit: 600, scopes, expiresAt: null })
      },
    })
    const credentials: Record<keyof typeof seen, Record<string, string>> = {
      nobody: {},
      reader: { 'x-api-key': 'reader' },
      key: { 'x-api-key': 'key' },
      member: { authorization: `Bearer ${await platform.token('member')}` },
      owner: { authorization: `Bearer ${await platform.token('owner')}` },
    }
    const hash = createHash('sha256').update(query).digest('hex')
    const persisted = encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash: hash } }))
    const ways: ((headers: Record<string, string>) => Promise<Answer>)[] = [
      headers => platform.gql(query, headers),
      headers => platform.ask(`/graphql?query=${encodeURIComponent(query)}`, { headers }),
      headers => platform.ask(`/graphql?query=${encodeURIComponent(query)}&extensions=${persisted}`, { headers }),
      headers => platform.ask(`/graphql?extensions=${persisted}`, { headers: { ...headers, 'content-type': 'application/json' } }),
    ]
    for (const ask of ways) {
      const rounds = Array.from({ length: 4 }, () => Object.entries(credentials)).flat()
      const answers = await Promise.all(rounds.map(async ([name, headers]) => ({ name: name as keyof typeof seen, answer: await ask(headers) })))
      for (const { name, answer } of answers) {
        expect(answer.json.data, name).toEqual(seen[name])
        expect(answer.headers['cache-control'], name).toBe('no-store')
      }
    }
  })

  test('cannot make the engine confuse their operation with somebody else’s by its name', async () => {
    const engine = await open()
    const document = parse('{ post { copy } }')
    const ask = (viewer: Viewer, operationName?: string) => engine.execute({ document, operationName, viewer, requestId: 'request-1' })
    expect((await ask(signedIn(['publishing:posts.read']))).data).toEqual({ post: { copy: 'copy of p1' } })
    for (const name of ['', 'post', 'undefined']) expect((await ask(anonymous, name)).data?.post ?? null, name).toBe(null)
  })
})

test('S-07 de-duplication shares no upstream answer between viewers, although the requests are equal', async () => {
  const server = await serveSubgraph(parts.publishing!)
  // A subgraph whose answers depend on the seal, slow enough for all callers to overlap.
  server.fault = (request, response) => void setTimeout(() => response.end(JSON.stringify({ data: { open: request.headers['x-viewer-seal'] } })), 100).unref()
  const transport = createRemoteTransport({
    subgraphs: new Map([['publishing', { url: server.url }]]),
    deduplicate: true,
    seal: async viewer => `${viewer.kind} ${viewer.userId} ${viewer.keyId}`,
  })
  const supergraph = readSupergraph(supergraphSdl)
  const engine = createEngine({ supergraphSdl: supergraph, transport, access: createAccessFilter(supergraph.access), log })
  const viewers: Viewer[] = [anonymous, signedIn(), { ...signedIn(), userId: 'other' }, keyed([]), { ...keyed([]), keyId: 'other' }]
  const document = parse('{ open }')
  try {
    const answers = await Promise.all([...viewers, ...viewers].map(viewer => engine.execute({ document, viewer, requestId: 'request-1' })))
    for (const [place, { data }] of answers.entries()) {
      const viewer = viewers[place % viewers.length]!
      expect(data).toEqual({ open: `${viewer.kind} ${viewer.userId} ${viewer.keyId}` })
    }
    expect(server.asked).toHaveLength(viewers.length)
  } finally {
    await transport.close()
    await server.stop()
  }
})
