import { newId } from '../../platform/ids.ts'
import { type Scope, scopesOf } from '../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'

/** A person at work in an organization, as the router makes one of a session. */
export const person = (userId: string, organizationId: string, roles: readonly string[]): Viewer => ({
  ...anonymous,
  kind: 'user',
  userId,
  organizationId,
  roles,
  scopes: scopesOf(roles),
  context: 'organization',
  sessionId: newId(),
})

/** The same person without an active organization. */
export const personally = (viewer: Viewer): Viewer => ({ ...viewer, organizationId: null, roles: [], scopes: [], context: 'personal' })

/** A program with an API key of an organization. */
export const key = (organizationId: string, scopes: readonly Scope[], keyId: string = newId()): Viewer => ({
  ...anonymous,
  kind: 'apiKey',
  organizationId,
  context: 'organization',
  scopes: [...scopes].sort(),
  keyId,
})

export { anonymous }
