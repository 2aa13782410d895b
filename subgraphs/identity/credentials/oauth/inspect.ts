import { createLocalJWKSet, errors, jwtVerify } from 'jose'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { type Authority, rightsOf, type ValidSession } from '../../../authority.ts'
import type { Handler } from '../../../http/handlers.ts'
import { inTransaction } from '../../../store/write.ts'
import { anonymous, isService, type Viewer } from '../../../viewer.ts'
import type { Context, Job } from '../../context.ts'
import { endSessions } from '../../session/opening.ts'
import { type Fault, fault, faulted, isFault, jsonAnswer } from './answers.ts'
import { clientOf } from './client.ts'
import { readForm } from './parameters.ts'
import { effectiveScopes } from './rules.ts'

/** Dependencies of token introspection. */
export interface Inspecting {
  readonly clock: Clock
  readonly authority: Pick<Authority, 'issuer' | 'audience' | 'jwks' | 'sessions'>
  open(viewer: Viewer, request: Request): Context
  /** Creates a context with the rows of all organizations. */
  job(): Job
}

/** A valid access token. */
interface Standing {
  readonly sessionId: string
  readonly userId: string
  readonly organizationId: string | null
  readonly session: ValidSession
  /** Scopes that the token has now. */
  readonly scopes: readonly string[]
  readonly iat: number
  readonly exp: number
}

/** Verifies an access token by the rows themselves: null for every invalid one. */
async function standing({ authority, clock }: Inspecting, token: string): Promise<Standing | null> {
  const { issuer, audience } = authority
  const options = { issuer, audience, currentDate: clock.now(), requiredClaims: ['exp', 'sub', 'sid', 'iat'] }
  const payload = await jwtVerify(token, createLocalJWKSet(await authority.jwks()), options).then(
    read => read.payload,
    error => {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return null
      throw error
    },
  )
  if (!payload) return null
  const { sub, sid, org, scope, iat, exp } = payload as { sub: string; sid: string; org?: string | null; scope?: unknown; iat: number; exp: number }
  const session = (await authority.sessions([sid])).get(sid)
  if (!session || session.userId !== sub) return null
  const organizationId = org ?? null
  const roles = organizationId === null ? [] : session.memberships[organizationId]
  if (!roles) return null
  // The person's scopes there; for a client, limited to what was granted and what this token states.
  const may = rightsOf({ organizationId, roles }, null).scopes
  const said = typeof scope === 'string' ? scope.split(' ') : null
  const granted = session.grant?.scopes.filter(each => said === null || said.includes(each))
  return { sessionId: sid, userId: sub, organizationId, session, scopes: granted ? effectiveScopes(granted, may) : may, iat, exp }
}

/** Handles `POST …/oauth2/introspect` (RFC 7662): a confidential client may inspect its own tokens, a service any. */
export const createIntrospection =
  (needs: Inspecting): Handler =>
  async (request, viewer) => {
    const form = await readForm(request)
    const context = needs.open(anonymous, request)
    const client = isService(viewer) ? null : await clientOf(context, request.headers, form)
    if (client && isFault(client)) return faulted(client)
    if (client?.type === 'public')
      return faulted(fault('invalid_client', 'Only confidential clients and services may introspect tokens.', 401, 'Basic realm="supergraph"'))
    const token = form('token')
    if (token === null) return faulted(fault('invalid_request', 'token has to come along.'))
    return jsonAnswer((await described(needs, context, token, client?.clientId ?? null)) ?? { active: false })
  }

/** @param own the client whose tokens only are described; null for all */
async function described(needs: Inspecting, { oauthGrants }: Context, token: string, own: string | null): Promise<object | null> {
  const { issuer, audience } = needs.authority
  const family = await oauthGrants.family(token)
  if (family) {
    if ((own !== null && family.clientId !== own) || hashOfSecret(token) !== family.refreshHash) return null
    const session = (await needs.authority.sessions([family.sessionId])).get(family.sessionId)
    if (!session?.grant || session.organizationId !== family.organizationId) return null
    const scope = effectiveScopes(session.grant.scopes, rightsOf(session, null).scopes).join(' ')
    const exp = Math.floor(session.expiresAt.getTime() / 1000)
    return { active: true, iss: issuer, sub: family.userId, client_id: family.clientId, scope, exp }
  }
  const found = await standing(needs, token)
  if (!found || (own !== null && found.session.grant?.clientId !== own)) return null
  const { session, sessionId, userId, organizationId, scopes, iat, exp } = found
  return {
    active: true,
    token_type: 'Bearer',
    iss: issuer,
    aud: audience,
    sub: userId,
    sid: sessionId,
    ...(session.grant && { client_id: session.grant.clientId }),
    ...(organizationId !== null && { org: organizationId }),
    scope: scopes.join(' '),
    iat,
    exp,
  }
}

/** Handles `POST …/oauth2/revoke` (RFC 7009): ends the family of any of its tokens; unknown tokens are ignored. */
export const createRevocation =
  (needs: Inspecting): Handler =>
  async request => {
    const form = await readForm(request)
    const context = needs.open(anonymous, request)
    const token = form('token')
    const refused = await inTransaction(context, async (unit): Promise<Fault | null> => {
      const client = await clientOf(context, request.headers, form, unit.transaction)
      if (isFault(client)) return client
      if (token === null) return fault('invalid_request', 'token has to come along.')
      const family = await context.oauthGrants.family(token, unit.transaction)
      const found = family ? null : await standing(needs, token)
      const of = family
        ? { clientId: family.clientId, sessionId: family.sessionId }
        : found && { clientId: found.session.grant?.clientId, sessionId: found.sessionId }
      if (of && of.clientId === client.clientId) await endSessions(context, { sessionId: of.sessionId }, unit)
      return null
    })
    return refused ? faulted(refused) : new Response(null, { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' } })
  }

/** Handles `GET …/oauth2/userinfo` (OpenID Connect Core §5.3): returns the granted claims about the person only. */
export const createUserinfo =
  (needs: Inspecting): Handler =>
  async request => {
    const refuse = (name: 'invalid_token' | 'insufficient_scope', sentence: string, status: number) =>
      faulted(fault(name, sentence, status, `Bearer error="${name}"${name === 'insufficient_scope' ? ', scope="openid"' : ''}`))
    const token = /^bearer +([\w~+/.-]+=*) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    if (token === undefined) return faulted(fault('invalid_token', 'Send the access token as Authorization: Bearer.', 401, 'Bearer'))
    const found = await standing(needs, token)
    if (!found) return refuse('invalid_token', 'The access token is expired, revoked or unknown.', 401)
    const has = (scope: string) => found.session.grant !== null && found.scopes.includes(scope)
    if (!has('openid')) return refuse('insufficient_scope', 'This needs the scope openid.', 403)
    const user = await needs.job().users.find(found.userId)
    if (!user) return refuse('invalid_token', 'The access token is expired or revoked.', 401)
    return jsonAnswer({
      sub: user.id,
      ...(has('profile') && { name: user.name, ...(user.image !== null && { picture: user.image }) }),
      ...(has('email') && { email: user.email, email_verified: user.emailVerified }),
    })
  }
