import { createHash } from 'node:crypto'
import type { Call, Reply } from '../network.ts'
import { json, textOf } from '../network.ts'
import { consentPage, refusalPage } from './consent.ts'
import { createGrant, hashOf, refreshGrant, revokeToken, usernameBehind } from './grants.ts'
import { accountOf } from './open.ts'
import type { Account, Client, Code, OauthWorld, Tokens } from './world.ts'

interface Wish {
  readonly client: Client
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly challenge: string | null
  readonly withoutRefresh: boolean
  /** Account that decides on the request. */
  readonly account: Account
}

/**
 * Shows the consent page, accepts the decision and redirects the browser back with a code, or with
 * `error=access_denied`. `sandbox_approve=1` in the address approves at once, `sandbox_approve=0` declines, and
 * `sandbox_account` names the account that decides, which is created when it does not exist. Without it the demo
 * account decides.
 *
 * PKCE must use S256 where the network supports PKCE, even if the real network also accepts `plain`. An invalid request
 * shows an error page and redirects nowhere.
 */
export function authorize(world: OauthWorld, call: Call): Reply {
  const wish = readWish(world, call.query)
  if (typeof wish === 'string') return refusalPage(wish)
  const told = call.query.get('sandbox_approve')
  const decision = told === '1' ? 'approve' : told === '0' ? 'deny' : call.method === 'POST' ? new URLSearchParams(textOf(call)).get('decision') : null
  if (decision === 'approve') return redirect(world, wish, { state: wish.state, code: createCode(world, wish) })
  if (decision === 'deny') return redirect(world, wish, { error: 'access_denied', state: wish.state })
  return consentPage(world.behaviour, wish.client, wish.account, wish.scopes)
}

function readWish(world: OauthWorld, query: URLSearchParams): Wish | string {
  const twice = [...query.keys()].find((key, index, keys) => keys.indexOf(key) !== index)
  if (twice !== undefined) return `The parameter ${twice} appears more than once.`
  const { clientParameter = 'client_id', pkce = 'base64url' } = world.behaviour
  const client = world.clients.get(query.get(clientParameter) ?? '')
  if (!client) return `The ${clientParameter} is missing or unknown.`
  const redirectUri = query.get('redirect_uri') ?? ''
  if (!client.redirectUris.includes(redirectUri)) return 'The redirect_uri is not exactly one of the callback addresses that this app registered.'
  if (query.get('response_type') !== 'code') return 'The response_type has to be code.'
  const scopes = [...new Set((query.get('scope') ?? '').split(/[ ,]/).filter(scope => scope !== ''))]
  const strange = scopes.find(scope => !Object.hasOwn(world.behaviour.scopes, scope) || (client.scopes && !client.scopes.includes(scope)))
  if (strange !== undefined || scopes.length === 0) return strange === undefined ? 'The scope is missing.' : 'The scope holds a word that is not a scope.'
  const state = query.get('state') ?? ''
  if (state === '' || state.length > 500) return 'The state has to be 1 to 500 characters long.'
  const account = accountOf(world, query.get('sandbox_account'))
  if (!account) return 'The sandbox_account has to be up to 30 of a-z, 0-9 and _.'
  const withoutRefresh = world.behaviour.asksRefresh?.(query) === false
  if (pkce === null) return { client, redirectUri, scopes, state, challenge: null, withoutRefresh, account }
  const challenge = query.get('code_challenge') ?? ''
  if (query.get('code_challenge_method') !== 'S256') return 'The code_challenge_method has to be S256.'
  if (!(pkce === 'hex' ? /^[0-9a-f]{64}$/ : /^[A-Za-z0-9_-]{43}$/).test(challenge)) return `The code_challenge is not the ${pkce} form of a SHA-256 digest.`
  return { client, redirectUri, scopes, state, challenge, withoutRefresh, account }
}

function createCode(world: OauthWorld, { client, redirectUri, scopes, challenge, withoutRefresh, account }: Wish): string {
  const now = world.clock.now()
  const code = world.behaviour.newToken('ac', now)
  const hash = hashOf(code)
  const expiresAt = now.getTime() + world.behaviour.codeLifetime
  world.codes.set(hash, {
    hash,
    clientId: client.id,
    accountId: account.id,
    redirectUri,
    challenge,
    scopes,
    expiresAt,
    ...(withoutRefresh && { withoutRefresh }),
  })
  return code
}

function redirect({ behaviour }: OauthWorld, { redirectUri }: Wish, parameters: Record<string, string>): Reply {
  const location = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
  return {
    status: 302,
    headers: { location: `${location.href}${behaviour.redirectSuffix ?? ''}`, 'referrer-policy': 'no-referrer' },
    body: '',
    outcome: 'granted',
  }
}

/** Exchanges a code or a refresh token, for confidential clients. */
export function token(world: OauthWorld, call: Call): Reply {
  const form = readForm(call)
  if (!form) return world.behaviour.refuse('form')
  const client = world.behaviour.authenticate(world, call)
  if (!client) return world.behaviour.refuse('client')
  const grantType = form.get('grant_type')
  if (grantType === 'authorization_code') return exchangeCode(world, client, form)
  if (grantType === 'refresh_token') return exchangeRefresh(world, client, form)
  return world.behaviour.refuse(grantType === null ? { missing: 'grant_type' } : 'grant type')
}

/** Revokes a token; an unknown token gets the same answer (RFC 7009 §2.2). */
export function revoke(world: OauthWorld, call: Call): Reply {
  const form = readForm(call)
  if (!form) return world.behaviour.refuse('form')
  const client = world.behaviour.authenticate(world, call)
  if (!client) return world.behaviour.refuse('client')
  const value = form.get('token')
  if (value === null) return world.behaviour.refuse({ missing: 'token' })
  revokeToken(world, client.id, value)
  return json(200, { revoked: true }, 'granted')
}

function exchangeCode(world: OauthWorld, client: Client, form: URLSearchParams): Reply {
  for (const name of ['code', 'redirect_uri', ...(world.behaviour.pkce === null ? [] : ['code_verifier'])])
    if (!form.get(name)) return world.behaviour.refuse({ missing: name })
  const spent = spendCode(world, client, { code: form.get('code')!, redirectUri: form.get('redirect_uri')!, verifier: form.get('code_verifier') })
  return 'wrong' in spent ? world.behaviour.refuse(spent.wrong) : tokenAnswer(spent.tokens)
}

/** An authorization code with its redirect URI and verifier, as an application presents it. */
export interface ShownCode {
  readonly code: string
  readonly redirectUri: string
  /** PKCE verifier; null where the network does not support PKCE. */
  readonly verifier: string | null
}

/**
 * Exchanges a code, also for networks with an answer format of their own. Reuse of an exchanged code revokes the grant
 * that came from it.
 */
export function spendCode(
  world: OauthWorld,
  client: Client,
  { code: shown, redirectUri, verifier }: ShownCode,
): { readonly tokens: Tokens; readonly code: Code } | { readonly wrong: 'code' | 'redirect uri' | 'verifier' } {
  const code = world.codes.get(hashOf(shown))
  if (!code || code.clientId !== client.id) return { wrong: 'code' }
  if (code.usedFor !== undefined) {
    world.grants.delete(code.usedFor)
    return { wrong: 'code' }
  }
  world.codes.set(code.hash, { ...code, usedFor: '' })
  if (code.expiresAt <= world.clock.now().getTime()) return { wrong: 'code' }
  if (redirectUri !== code.redirectUri) return { wrong: 'redirect uri' }
  const digest = createHash('sha256').update(verifier ?? '')
  if (code.challenge !== null && digest.digest(world.behaviour.pkce ?? 'base64url') !== code.challenge) return { wrong: 'verifier' }
  const { grant, tokens } = createGrant(world, code)
  world.codes.set(code.hash, { ...code, usedFor: grant.id })
  return { tokens, code }
}

function exchangeRefresh(world: OauthWorld, client: Client, form: URLSearchParams): Reply {
  const value = form.get('refresh_token')
  if (!value) return world.behaviour.refuse({ missing: 'refresh_token' })
  const username = usernameBehind(world, value)
  const tokens = refreshGrant(world, client.id, value)
  const fault = tokens && world.faults.take(world.name, ['slow-renewal'], username)
  if (fault) return { ...tokenAnswer(tokens), outcome: 'faulted', fault: 'slow-renewal', delayMs: fault.delayMs ?? 0 }
  return tokens ? tokenAnswer(tokens) : world.behaviour.refuse('token')
}

export function tokenAnswer({ accessToken, refreshToken, expiresIn, scope, told }: Tokens): Reply {
  const body = {
    token_type: 'bearer',
    expires_in: expiresIn,
    access_token: accessToken,
    scope,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...told,
  }
  return json(200, body, 'granted', { pragma: 'no-cache' })
}

function readForm(call: Call): URLSearchParams | undefined {
  return /^application\/x-www-form-urlencoded\b/i.test(call.headers['content-type'] ?? '') ? new URLSearchParams(textOf(call)) : undefined
}
