import { execute, parse } from 'graphql'
import { expect, test } from 'vitest'
import type { Viewer } from '../../../subgraphs/viewer.ts'
import { unbounded } from '../../kit/reading.ts'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'

/** Asks publishing itself for entities by their keys, as the router does on a viewer's behalf. */
async function ask(graph: Supergraph, viewer: Viewer, representations: object[]) {
  const { schema, open } = graph.platform.publishing
  const document = parse(
    `query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Brand { id name } ... on Post { id copy } ... on Connection { id accountName } } }`,
  )
  const contextValue = open(viewer, { requestId: 'r', ...unbounded } as never)
  return execute({ schema, document, variableValues: { r: representations }, contextValue })
}

async function entities(graph: Supergraph, viewer: Viewer, representations: object[]) {
  const { data, errors } = await ask(graph, viewer, representations)
  expect(errors).toBeUndefined()
  return data!._entities as unknown[]
}

test('resolves an entity’s key only for its own organization: for all others it does not exist', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, outsider, brand, post, connection } = await graph.seed.owner().outsider().brand().connection().post()
  const representations = [
    { __typename: 'Brand', id: brand.id },
    { __typename: 'Post', id: post.id },
    { __typename: 'Connection', id: connection.id },
  ]
  expect(await entities(graph, owner, representations)).toMatchObject([
    { __typename: 'Brand', name: brand.name },
    { __typename: 'Post', copy: post.copy },
    { __typename: 'Connection', accountName: connection.accountName },
  ])
  expect(await entities(graph, outsider, representations)).toEqual([null, null, null])
  expect(await entities(graph, { ...owner, organizationId: null }, representations)).toEqual([null, null, null])
})

test('a reference that cannot be looked up fails alone, and harms neither other references nor the process', async () => {
  await using graph = await supergraph()
  const { owner, brand, post } = await graph.seed.owner().brand().post()
  const representations = [{ __typename: 'Post', id: 'no id' }, { __typename: 'Brand', id: brand.id }, { __typename: 'Post' }]
  const { data, errors } = await ask(graph, owner, representations)
  expect(data!._entities).toMatchObject([null, { name: brand.name }, null])
  expect(errors!.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      ['_entities', 0],
      ['_entities', 2],
    ]),
  )
  expect(await entities(graph, owner, [{ __typename: 'Post', id: post.id }])).toMatchObject([{ copy: post.copy }])
})

test.each<[string, object]>([
  ['of a type that is none here', { __typename: 'Nothing', id: 'x' }],
  ['of a scalar', { __typename: 'DateTime', id: 'x' }],
  ['of no type', { id: 'x' }],
])('one %s is refused before any is looked for: what would fail beside it has somebody to hear of it', async (_, strange) => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const statements = await graph.statements(async () => {
    const { data, errors } = await ask(graph, owner, [{ __typename: 'Post', id: 'no id' }, strange])
    expect([data, errors![0]!.extensions.code]).toEqual([null, 'BAD_USER_INPUT'])
    await new Promise(resolve => setImmediate(resolve))
  })
  expect(statements.filter(text => text.includes('publishing.posts'))).toEqual([])
})
