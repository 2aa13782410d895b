import { execute, parse } from 'graphql'
import { expect, test } from 'vitest'
import type { Viewer } from '../../../subgraphs/viewer.ts'
import { unbounded } from '../../kit/reading.ts'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'

/** Asks publishing itself for entities by their keys, as the router does on a viewer's behalf. */
async function entities(graph: Supergraph, viewer: Viewer, representations: object[]) {
  const { schema, open } = graph.platform.publishing
  const document = parse(
    `query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Brand { id name } ... on Post { id copy } ... on Connection { id accountName } } }`,
  )
  const contextValue = open(viewer, { requestId: 'r', ...unbounded } as never)
  const { data, errors } = await execute({ schema, document, variableValues: { r: representations }, contextValue })
  expect(errors).toBeUndefined()
  return data!._entities as unknown[]
}

test('an entity that is asked for by its key is its organization’s alone: to everybody else it is not there', async () => {
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
