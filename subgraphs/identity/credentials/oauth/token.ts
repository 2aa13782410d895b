import { hashOfSecret } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Grant } from '../../../authority.ts'
import type { Handler } from '../../../http/handlers.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import { anonymous, type Viewer } from '../../../viewer.ts'
import type { Claims, Context } from '../../context.ts'
import { endSessions, openSession } from '../../session/opening.ts'
import { claimsOf } from '../../session/rules.ts'
import type { Family, GrantCode } from '../../stores/credentials/oauth-grant.ts'
import { type Fault, fault, faulted, isFault, jsonAnswer } from './answers.ts'
import { clientOf } from './client.ts'
import { type Parameters, readForm } from './parameters.ts'
import { accessLife, familyLife, meetsChallenge } from './rules.ts'

/** Dependencies of the token endpoint. */
export interface Giving {
  readonly clock: Clock
  readonly clientAddressHeader: string
  open(viewer: Viewer, request: Request): Context
}

/** Error for every invalid code or refresh token; it does not reveal the reason. */
const spent = (): Fault =>
  fault(
    'invalid_grant',
    'This grant is expired, used, unknown, or belongs to another client, redirect address or verifier: each works once. Start again at the authorization endpoint.',
  )

/**
 * Claims of an ID token besides `iss` and `aud` (OpenID Connect Core §2). It is for the client only, and grants no
 * access here.
 */
type IdClaims = Readonly<{ sub: string; nonce?: string; auth_time: number; iat: number; exp: number }>

/** Result for a client, before tokens are signed. */
interface Given {
  readonly client: string
  readonly access: Claims
  readonly scope: string
  readonly refresh: string | null
  readonly id: IdClaims | null
}

const ways: ReadonlyMap<string, (work: Work) => Promise<Given | Fault>> = new Map([
  ['authorization_code', redeem],
  ['refresh_token', renew],
])

/**
 * Handles the token endpoint (RFC 6749 §3.2): the result is committed before the answer leaves, and signed before the
 * commit, so that a failure to sign uses nothing up and the client can repeat the request.
 */
export const createTokenHandler =
  (giving: Giving): Handler =>
  async request => {
    const form = await readForm(request)
    const context = giving.open(anonymous, request)
    const grant = form('grant_type')
    const way = ways.get(grant ?? '')
    if (grant === null) return faulted(fault('invalid_request', 'grant_type is missing: send authorization_code or refresh_token.'))
    if (!way) return faulted(fault('unsupported_grant_type', 'grant_type takes authorization_code and refresh_token.'))
    const answer = await inTransaction(context, async unit => {
      const given = await way({ ...giving, context, request, form, unit })
      return isFault(given) ? given : answerOf(given, context)
    })
    return isFault(answer) ? faulted(answer) : jsonAnswer(answer)
  }

/** Builds the answer of the token endpoint (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3), with signed tokens. */
async function answerOf(given: Given, { sign }: Context) {
  const [accessToken, idToken] = await Promise.all([sign(given.access), given.id && sign(given.id, given.client)])
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: given.access.exp - given.access.iat,
    scope: given.scope,
    ...(given.refresh !== null && { refresh_token: given.refresh }),
    ...(idToken && { id_token: idToken }),
  }
}

/** One token request within its transaction. Errors are returned, not thrown, so that used codes stay used. */
interface Work extends Giving {
  readonly context: Context
  readonly request: Request
  readonly form: Parameters
  readonly unit: WriteTransaction
}

/** Exchanges a code, which is used up in any case; a repeated code ends the session that it gave (RFC 9700 §4.5). */
async function redeem(work: Work): Promise<Given | Fault> {
  const { context, request, form, unit, clientAddressHeader } = work
  const { oauthGrants, oauthConsents } = context
  const [clear, redirectUri, verifier] = [form('code'), form('redirect_uri'), form('code_verifier')]
  if (clear === null || redirectUri === null || verifier === null) return fault('invalid_request', 'code, redirect_uri and code_verifier have to come along.')
  // The code is checked before the client: a caller without the secret has the code from somewhere too.
  const code = await oauthGrants.find('code', clear, unit.transaction)
  if (code?.usedAt) await endReused(work, code)
  else if (code) await oauthGrants.use(code, unit)
  const client = await clientOf(context, request.headers, form, unit.transaction)
  if (isFault(client)) return client
  if (!code || code.usedAt || code.expiresAt <= unit.now || code.clientId !== client.clientId) return spent()
  const { userId, asked } = code
  if (asked.redirectUri !== redirectUri || !meetsChallenge(verifier, asked.challenge)) return spent()
  const roles = await oauthGrants.rolesOf(userId, asked.organizationId, unit.transaction)
  const agreed = client.trusted ? asked.scopes : await oauthConsents.given(userId, client.clientId, unit.transaction)
  const scopes = asked.scopes.filter(scope => client.scopes.includes(scope))
  // Something was revoked meanwhile: the consent, account, membership, the client's scopes or the session.
  if (roles === null || !(await oauthGrants.isStillAsked(code, unit)) || scopes.length === 0 || !scopes.every(scope => agreed.includes(scope))) return spent()

  const goesOn = scopes.includes('offline_access')
  const grant: Grant = { clientId: client.clientId, scopes, trusted: client.trusted }
  const session = {
    userId,
    kind: 'oauth',
    organizationId: asked.organizationId,
    ...(asked.organizationId === null && { context: 'personal' as const }),
    grant,
    expiresAt: new Date(unit.now.getTime() + (goesOn ? familyLife.unused : accessLife)),
    from: { ipAddress: request.headers.get(clientAddressHeader), userAgent: request.headers.get('user-agent') },
  } as const
  const { sessionId } = await openSession(context, session, unit)
  await oauthGrants.note(code, sessionId, unit.transaction)
  const signedInAt = new Date(asked.signedInAt)
  const refresh = goesOn ? await oauthGrants.begin(sessionId, signedInAt, unit) : null
  return given(
    { sessionId, userId, organizationId: asked.organizationId, roles, grant, signedInAt, nonce: asked.nonce, refresh, endsAt: session.expiresAt },
    unit.now,
  )
}

/**
 * Exchanges a refresh token for the next; a repeated one ends its family, because one of its two holders may be a thief
 * (RFC 9700 §4.14).
 */
async function renew(work: Work): Promise<Given | Fault> {
  const { context, request, form, unit } = work
  const { oauthGrants } = context
  const clear = form('refresh_token')
  if (clear === null) return fault('invalid_request', 'refresh_token has to come along.')
  const client = await clientOf(context, request.headers, form, unit.transaction)
  if (isFault(client)) return client
  const family = await oauthGrants.family(clear, unit.transaction)
  if (!family || family.clientId !== client.clientId) return spent()
  if (hashOfSecret(clear) !== family.refreshHash) {
    await endReused(work, family)
    return spent()
  }
  const roles = family.expiresAt > unit.now ? await oauthGrants.rolesOf(family.userId, family.organizationId, unit.transaction) : null
  if (roles === null) {
    await endSessions(context, { sessionId: family.sessionId }, unit)
    return spent()
  }
  const scopes = narrowed(form('scope'), family.scopes)
  if (!scopes) return fault('invalid_scope', 'scope names something that was not granted.')
  const endsAt = new Date(Math.min(unit.now.getTime() + familyLife.unused, family.createdAt.getTime() + familyLife.all))
  const refresh = await oauthGrants.rotate(family, clear, endsAt, unit)
  const grant: Grant = { clientId: client.clientId, scopes, trusted: family.trusted }
  return given({ ...family, roles, grant, nonce: null, refresh, endsAt }, unit.now)
}

/** Returns the requested part of the granted scopes; null when more is requested (RFC 6749 §6). */
function narrowed(wanted: string | null, granted: readonly string[]): readonly string[] | null {
  if (wanted === null) return granted
  const scopes = [...new Set(wanted.split(' ').filter(Boolean))]
  return scopes.length > 0 && scopes.every(scope => granted.includes(scope)) ? scopes : null
}

interface Giveable {
  readonly sessionId: string
  readonly userId: string
  readonly organizationId: string | null
  readonly roles: readonly string[]
  readonly grant: Grant
  readonly signedInAt: Date
  readonly nonce: string | null
  readonly refresh: string | null
  readonly endsAt: Date
}

function given({ sessionId, userId, organizationId, roles, grant, signedInAt, nonce, refresh, endsAt }: Giveable, now: Date): Given {
  const claims = claimsOf({ sessionId, userId, organizationId, roles, grant }, now)
  const access = { ...claims, exp: Math.min(claims.exp, Math.floor(endsAt.getTime() / 1000)) }
  const { iat, exp } = access
  const id = grant.scopes.includes('openid')
    ? { sub: userId, ...(nonce !== null && { nonce }), auth_time: Math.floor(signedInAt.getTime() / 1000), iat, exp }
    : null
  return { client: grant.clientId, access, scope: grant.scopes.join(' '), refresh, id }
}

/** Ends what a reused code or token had given. */
async function endReused({ context, unit }: Work, reused: GrantCode | Family): Promise<void> {
  const { sessionId, userId, clientId } = reused
  const [ended] = sessionId ? await endSessions(context, { sessionId }, unit) : []
  const organizationId = 'asked' in reused ? reused.asked.organizationId : reused.organizationId
  const line = { tenantId: organizationId ?? userId, action: 'oauth.token_reused', subjectId: sessionId ?? userId, personId: userId }
  if (ended) await record(context, { ...line, details: { clientId, what: 'asked' in reused ? 'code' : 'refresh token' } }, unit)
}
