import assert from 'node:assert/strict'
import { ClientError, GraphQLClient, gql } from 'graphql-request'
import { signIn } from '../rest/session.ts'

/** graphql-request: a script's few lines, and what it hears when it forgets to sign in. */
export async function walkWithGraphqlRequest(url: string): Promise<void> {
  const brands = gql`{ brands(first: 5) { nodes { id name } totalCount } }`
  const stranger = new GraphQLClient(`${url}/graphql`)
  const refused = await stranger.request(brands).then(
    () => null,
    error => error,
  )
  assert.ok(refused instanceof ClientError)
  assert.equal(refused.response.errors?.[0]?.extensions?.code, 'UNAUTHORIZED_FIELD_OR_TYPE')

  const client = new GraphQLClient(`${url}/graphql`, { headers: { authorization: `Bearer ${await signIn(url)}` } })
  const found = await client.request<{ brands: { nodes: { id: string; name: string }[]; totalCount: number } }>(brands)
  assert.ok(found.brands.nodes.length > 0)
}
