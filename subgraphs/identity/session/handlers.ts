import type { Authority } from '../../authority.ts'
import type { Handler } from '../../http/handlers.ts'
import { problem } from '../../http/problem.ts'
import { inTransaction } from '../../store/write.ts'
import { anonymous, type Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { OwnSession } from './ending.ts'
import { endSessions } from './opening.ts'
import { claimsOf, expiryOf } from './rules.ts'

interface SessionRows {
  readonly authority: Authority
  open(viewer: Viewer, request: Request): Context
  /** Returns every valid session token in a request's cookies. */
  sessionTokens(headers: Headers): readonly string[]
  /** Returns the session of an access token, even an expired one. @throws UNAUTHENTICATED for an invalid one */
  sessionOf(authorization: string): Promise<OwnSession>
}

/**
 * Handles `GET …/token`: a new access token for the session of the cookie, whose lifetime in the browser is renewed.
 */
export const renewal =
  ({ authority, open, sessionTokens }: SessionRows): Handler =>
  async request => {
    const session = await authority.cookie(request.headers)
    if (session === null || session === 'stale')
      return problem(request, 'UNAUTHENTICATED', 'There is no session: sign in first.', {}, session === 'stale' ? authority.clearCookie() : [])
    authority.touchSessions([session.sessionId])
    const { clock, sign, sessionCookies } = open(anonymous, request)
    const now = clock.now()
    const claims = claimsOf(session, now)
    const answer = Response.json({ accessToken: await sign(claims), expiresAt: expiryOf(claims).toISOString() })
    for (const line of sessionCookies(sessionTokens(request.headers)[0]!, session.expiresAt, now)) answer.headers.append('set-cookie', line)
    return answer
  }

/**
 * Handles `POST …/sign-out`: ends the sessions of the cookies, and the one of an access token, for clients without
 * cookies.
 */
export const signOut =
  ({ authority, open, sessionTokens, sessionOf }: SessionRows): Handler =>
  async request => {
    const authorization = request.headers.get('authorization')
    const named = authorization === null ? null : await sessionOf(authorization)
    const tokens = sessionTokens(request.headers)
    const context = open(anonymous, request)
    await inTransaction(context, async unit => {
      if (named) await endSessions(context, { sessionId: named.sessionId }, unit, { ofItself: true })
      if (tokens.length > 0) await endSessions(context, { tokens }, unit, { ofItself: true })
    })
    const answer = Response.json({ success: true })
    for (const line of authority.clearCookie()) answer.headers.append('set-cookie', line)
    return answer
  }
