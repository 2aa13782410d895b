import type { CookieSession } from '../../../authority.ts'
import { anonymous, type Viewer } from '../../../viewer.ts'

/** Returns the person whose own session a browser's cookie names; null for none, and for an application's session. */
export const readerOf = (session: CookieSession | 'stale' | null): Viewer | null => {
  if (session === null || session === 'stale' || session.grant) return null
  const { userId, organizationId, roles, context, sessionId } = session
  return { ...anonymous, kind: 'user', userId, organizationId, roles, context, sessionId }
}
