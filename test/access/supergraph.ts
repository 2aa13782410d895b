import { composeServices } from '@apollo/composition'
import { parse } from 'graphql'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'

const head = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
  import: ["@key", "@shareable", "@authenticated", "@requiresScopes", "@policy"])\n`

/** Composes small subgraphs, as `npm run generate` composes the real ones, and hands back the supergraph's SDL. */
export function compose(subgraphs: Record<string, string>): string {
  const result = composeServices(Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: `http://${name}.test`, typeDefs: parse(head + sdl) })))
  if (result.errors) throw new Error(result.errors.map(error => error.message).join('\n'))
  return result.supergraphSdl!
}

export const signedIn = (scopes: readonly string[] = [], roles: readonly string[] = ['member']): Viewer => ({
  ...anonymous,
  kind: 'user',
  userId: '01990000-0000-7000-8000-000000000001',
  organizationId: '01990000-0000-7000-8000-000000000002',
  context: 'organization',
  roles,
  scopes,
  sessionId: 'session-1',
})

export const keyed = (scopes: readonly string[]): Viewer => ({
  ...anonymous,
  kind: 'apiKey',
  organizationId: '01990000-0000-7000-8000-000000000002',
  context: 'organization',
  scopes,
  keyId: 'key-1',
})

export { anonymous }
