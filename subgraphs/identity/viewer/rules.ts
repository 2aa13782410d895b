import { Refusal } from '../../../platform/errors.ts'
import type { Viewer } from '../../viewer.ts'
import type { ViewerKind } from '../resolvers.generated.ts'

/** A viewer's kind in the graph's spelling. */
export const kindToGraph = { user: 'USER', apiKey: 'API_KEY', service: 'SERVICE', anonymous: 'ANONYMOUS' } as const satisfies Record<Viewer['kind'], ViewerKind>

/**
 * The person who asks. Policies in the schema keep everybody else away from what needs one; this says so to the types.
 * @throws FORBIDDEN for keys, services and anonymous viewers
 */
export function requirePerson(viewer: Viewer): string {
  if (viewer.kind !== 'user' || !viewer.userId) throw new Refusal('FORBIDDEN', 'Only a person may do this: sign in, keys and services cannot.')
  return viewer.userId
}

/** @throws FORBIDDEN in personal context, where there is no organization to act in */
export function requireOrganization(viewer: Viewer): string {
  if (!viewer.organizationId) throw new Refusal('FORBIDDEN', 'No organization is active: choose one with switchOrganization first.')
  return viewer.organizationId
}
