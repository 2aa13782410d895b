import { createHash } from 'node:crypto'
import type { Call, Reply } from '../network.ts'
import { json, textOf } from '../network.ts'
import { consentPage, refusalPage } from './consent.ts'
import type { Tokens } from './grants.ts'
import { createGrant, hashOf, refreshGrant, revokeToken } from './grants.ts'
import type { Client, OauthWorld } from './world.ts'

interface Wish {
  readonly client: Client
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly challenge: string
}

/**
 * Shows the consent page, takes its decision and sends the browser back with a code, or
 * with `error=access_denied`. `sandbox_approve=1` in the address decides at once. It is always the demo account that consents.
 *
 * PKCE must be S256, also where the network would take `plain` too. A request that is wrong in itself stays on a page here and redirects nowhere.
 */
export function authorize(world: OauthWorld, call: Call): Reply {
  const wish = readWish(world, call.query)
  if (typeof wish === 'string') return refusalPage(wish)
  const decision = call.query.get('sandbox_approve') === '1' ? 'approve' : call.method === 'POST' ? new URLSearchParams(textOf(call)).get('decision') : null
  if (decision === 'approve') return redirect(wish, { state: wish.state, code: createCode(world, wish) })
  if (decision === 'deny') return redirect(wish, { error: 'access_denied', state: wish.state })
  return consentPage(world.manners, wish.client, world.demo.account(), wish.scopes)
}

function readWish(world: OauthWorld, query: URLSearchParams): Wish | string {
  const twice = [...query.keys()].find((key, index, keys) => keys.indexOf(key) !== index)
  if (twice !== undefined) return `The parameter ${twice} appears more than once.`
  const client = world.clients.get(query.get('client_id') ?? '')
  if (!client) return 'The client_id is missing or unknown.'
  const redirectUri = query.get('redirect_uri') ?? ''
  if (!client.redirectUris.includes(redirectUri)) return 'The redirect_uri is not exactly one of the callback addresses that this app registered.'
  if (query.get('response_type') !== 'code') return 'The response_type has to be code.'
  const scopes = [...new Set((query.get('scope') ?? '').split(' ').filter(scope => scope !== ''))]
  const strange = scopes.find(scope => !Object.hasOwn(world.manners.scopes, scope))
  if (strange !== undefined || scopes.length === 0) return strange === undefined ? 'The scope is missing.' : 'The scope holds a word that is not a scope.'
  const state = query.get('state') ?? ''
  if (state === '' || state.length > 500) return 'The state has to be 1 to 500 characters long.'
  const challenge = query.get('code_challenge') ?? ''
  if (query.get('code_challenge_method') !== 'S256') return 'The code_challenge_method has to be S256.'
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) return 'The code_challenge is not the base64url form of a SHA-256 digest.'
  return { client, redirectUri, scopes, state, challenge }
}

function createCode(world: OauthWorld, { client, redirectUri, scopes, challenge }: Wish): string {
  const now = world.clock.now()
  const code = world.manners.newToken('ac', now)
  const hash = hashOf(code)
  const expiresAt = now.getTime() + world.manners.codeLifetime
  world.codes.set(hash, { hash, clientId: client.id, accountId: world.demo.account().id, redirectUri, challenge, scopes, expiresAt })
  return code
}

function redirect({ redirectUri }: Wish, parameters: Record<string, string>): Reply {
  const location = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
  return { status: 302, headers: { location: location.href, 'referrer-policy': 'no-referrer' }, body: '', outcome: 'granted' }
}

/** Exchanges a code or a refresh token, for confidential clients. */
export function token(world: OauthWorld, call: Call): Reply {
  const form = readForm(call)
  if (!form) return world.manners.refuse('form')
  const client = world.manners.authenticate(world, call)
  if (!client) return world.manners.refuse('client')
  const grantType = form.get('grant_type')
  if (grantType === 'authorization_code') return exchangeCode(world, client, form)
  if (grantType === 'refresh_token') return exchangeRefresh(world, client, form)
  return world.manners.refuse(grantType === null ? { missing: 'grant_type' } : 'grant type')
}

/** Ends a token; an unknown one is answered alike (RFC 7009 §2.2). */
export function revoke(world: OauthWorld, call: Call): Reply {
  const form = readForm(call)
  if (!form) return world.manners.refuse('form')
  const client = world.manners.authenticate(world, call)
  if (!client) return world.manners.refuse('client')
  const value = form.get('token')
  if (value === null) return world.manners.refuse({ missing: 'token' })
  revokeToken(world, client.id, value)
  return json(200, { revoked: true }, 'granted')
}

function exchangeCode(world: OauthWorld, client: Client, form: URLSearchParams): Reply {
  for (const name of ['code', 'redirect_uri', 'code_verifier']) if (!form.get(name)) return world.manners.refuse({ missing: name })
  const code = world.codes.get(hashOf(form.get('code')!))
  if (!code || code.clientId !== client.id) return world.manners.refuse('code')
  if (code.usedFor !== undefined) {
    world.grants.delete(code.usedFor)
    return world.manners.refuse('code')
  }
  world.codes.set(code.hash, { ...code, usedFor: '' })
  if (code.expiresAt <= world.clock.now().getTime()) return world.manners.refuse('code')
  if (form.get('redirect_uri') !== code.redirectUri) return world.manners.refuse('redirect uri')
  const challenge = createHash('sha256').update(form.get('code_verifier')!).digest('base64url')
  if (challenge !== code.challenge) return world.manners.refuse('verifier')
  const { grant, tokens } = createGrant(world, code)
  world.codes.set(code.hash, { ...code, usedFor: grant.id })
  return tokenAnswer(tokens)
}

function exchangeRefresh(world: OauthWorld, client: Client, form: URLSearchParams): Reply {
  const value = form.get('refresh_token')
  if (!value) return world.manners.refuse({ missing: 'refresh_token' })
  const tokens = refreshGrant(world, client.id, value)
  const fault = tokens && world.faults.take(world.name, ['slow-renewal'])
  if (fault) return { ...tokenAnswer(tokens), outcome: 'faulted', fault: 'slow-renewal', delayMs: fault.delayMs ?? 0 }
  return tokens ? tokenAnswer(tokens) : world.manners.refuse('token')
}

function tokenAnswer({ accessToken, refreshToken, expiresIn, scope }: Tokens): Reply {
  const body = {
    token_type: 'bearer',
    expires_in: expiresIn,
    access_token: accessToken,
    scope,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  }
  return json(200, body, 'granted', { pragma: 'no-cache' })
}

function readForm(call: Call): URLSearchParams | undefined {
  return /^application\/x-www-form-urlencoded\b/i.test(call.headers['content-type'] ?? '') ? new URLSearchParams(textOf(call)) : undefined
}
