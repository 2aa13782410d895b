import { createHash } from 'node:crypto'
import type { Viewer } from '../../../../viewer.ts'
import type { CatalogEntryRow } from '../../../stores/catalog-entry.ts'

/** For whom one answer of an app is true. */
export interface Share {
  /** Cache key: a payload is shown only to viewers with the same key. */
  readonly key: string
  readonly entryId: string
  readonly organizationId: string | null
  /** The person whose id the app receives; null where all viewers with the same rights share the payload. */
  readonly userId: string | null
  /** What the viewer is in the organization; null in personal context. */
  readonly role: 'manager' | 'member' | null
}

const isManager = ({ roles }: Pick<Viewer, 'roles'>): boolean => roles.includes('owner') || roles.includes('admin')

/**
 * Returns for whom an app's answer to a viewer is true. Whatever is told to the app, and the installation, is part of the key: an app that
 * is installed anew begins anew. In personal context every widget is a person's own.
 * @param installationId of the app in the viewer's active context
 */
export function shareOf(
  { organizationId, userId, roles, scopes }: Pick<Viewer, 'organizationId' | 'userId' | 'roles' | 'scopes'>,
  { id: entryId, widgetAudience }: Pick<CatalogEntryRow, 'id' | 'widgetAudience'>,
  installationId: string,
): Share {
  const isShared = organizationId !== null && widgetAudience === 'ORGANIZATION'
  const role = organizationId === null ? null : isManager({ roles }) ? 'manager' : 'member'
  const person = isShared ? null : userId
  const rights = isShared ? scopes.filter(scope => scope.startsWith('launcher:widgets.')).toSorted() : []
  const parts = [entryId, installationId, organizationId, person, role, rights]
  return { key: createHash('sha256').update(JSON.stringify(parts)).digest('base64url'), entryId, organizationId, userId: person, role }
}
