import { randomBytes } from 'node:crypto'
import { DomainError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { Grant } from '../../authority.ts'
import { record, type WriteTransaction, type Writing } from '../../store/books.ts'
import type { Context } from '../context.ts'
import type { EndedSession, Ending, SessionKind } from '../stores/session.ts'
import { claimsOf, expiryOf, sessionLifetime } from './rules.ts'

/** Parameters of a new session. */
export interface NewSession {
  readonly userId: string
  readonly kind: SessionKind
  /** Initial organization; null for none. A person without a membership there acts in personal context. */
  readonly organizationId: string | null
  /** @default organization */
  readonly context?: 'personal' | 'organization'
  /** Grant of an OAuth client: for sessions of kind oauth only. */
  readonly grant?: Grant
  /** End of the session. @default in seven days, extended by use */
  readonly expiresAt?: Date
  /** Parent session of a handoff: both end together. @default none */
  readonly originSessionId?: string | null
  /** Address and program at the begin, as far as known. */
  readonly from: { readonly ipAddress: string | null; readonly userAgent: string | null }
}

/** A new session, valid from the commit on. */
export interface OpenedSession {
  readonly sessionId: string
  /** `Set-Cookie` lines for a browser; other clients ignore them. */
  readonly cookies: readonly string[]
  readonly accessToken: string
  /** End of the token's validity. */
  readonly expiresAt: Date
}

type StoreContext = Writing & Pick<Context, 'sessions' | 'sign' | 'sessionCookies'>

/**
 * Begins a session in the transaction that justifies it. Signing in by password uses the credential library instead.
 * @throws UNAUTHENTICATED for a suspended or deleted person
 */
export async function openSession(context: StoreContext, session: NewSession, unit: WriteTransaction): Promise<OpenedSession> {
  const { userId, kind, organizationId, context: of = 'organization', grant = null, originSessionId = null, from } = session
  const [id, token] = [newId(unit.now), randomBytes(32).toString('base64url')]
  const expiresAt = session.expiresAt ?? new Date(unit.now.getTime() + sessionLifetime * 1000)
  const row = { id, token, userId, kind, organizationId, context: of, grant, renews: session.expiresAt === undefined, ...from, expiresAt, originSessionId }
  const roles = await context.sessions.insert(row, unit)
  if (roles === undefined) throw new DomainError('UNAUTHENTICATED', 'This account cannot be signed in to.')
  const details = { kind, ...(grant && { clientId: grant.clientId }) }
  await record(
    context,
    { tenantId: organizationId ?? userId, personId: userId, action: 'session.created', subjectId: id, actor: `user:${userId}`, details },
    unit,
  )
  const place = of === 'organization' && organizationId && roles ? { organizationId, roles } : { organizationId: null, roles: [] }
  const claims = claimsOf({ sessionId: id, userId, ...place, grant }, unit.now)
  return { sessionId: id, cookies: context.sessionCookies(token, expiresAt, unit.now), accessToken: await context.sign(claims), expiresAt: expiryOf(claims) }
}

/**
 * Ends sessions in the transaction that causes it: from the commit on their tokens and cookies are rejected, within a
 * second everywhere, and within two their streams have ended.
 * @param options.ofItself whether an unauthenticated holder of the session ended it @default false
 */
export async function endSessions(
  context: Writing & Pick<Context, 'sessions'>,
  of: Ending,
  unit: WriteTransaction,
  { ofItself = false }: { readonly ofItself?: boolean } = {},
): Promise<readonly EndedSession[]> {
  const gone = await context.sessions.end(of, unit)
  // Any number of sessions may end with a client; the client's own audit entry covers them.
  if ('clientId' in of && !of.userId) return gone
  for (const { id, userId, kind, organizationId } of gone) {
    const line = { tenantId: organizationId ?? userId, personId: userId, action: 'session.revoked', subjectId: id, details: { kind } }
    await record(context, { ...line, ...(ofItself && { actor: `user:${userId}` }) }, unit)
  }
  return gone
}
