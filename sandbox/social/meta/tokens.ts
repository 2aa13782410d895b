import { randomBytes, randomInt } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import { findByAccess, hashOf, whoShows } from '../../oauth/grants.ts'
import { spendCode } from '../../oauth/server.ts'
import type { Behaviour, Client, Grant, OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import { graphError, noToken, parametersOf } from './graph.ts'

/** Seconds that a token lasts: one that a code gives, and one that it is exchanged for. */
export const shortLife = 3600
export const longLife = 5_184_000
/** How old a token must be before it is extended, in ms. */
const oldEnoughMs = 24 * 3_600_000

/** What Meta's networks have in common in OAuth 2.0: no PKCE, no refresh tokens, scopes separated by commas. */
export function mannersOf({
  title,
  scopes,
  tokenPrefix,
  redirectSuffix,
}: {
  title: string
  scopes: Readonly<Record<string, string>>
  tokenPrefix: string
  redirectSuffix?: string
}): Behaviour {
  return {
    title,
    scopes,
    refreshScope: null,
    pkce: null,
    scopesByComma: true,
    ...(redirectSuffix !== undefined && { redirectSuffix }),
    codeLifetime: 3_600_000,
    accessLifetime: shortLife,
    refreshLifetime: 0,
    newToken: kind => (kind === 'ac' ? `AQ${randomBytes(60).toString('base64url')}` : `${tokenPrefix}${randomBytes(60).toString('base64url')}`),
    authenticate: (world, call) => clientOf(world, parametersOf(call)),
    refuse: wrong => refusedCode(typeof wrong === 'string' ? wrong : `missing ${wrong.missing}`),
  }
}

/** An application's id and secret, in the forms of Meta's. */
export const newClient = () => ({ id: `${randomInt(1e8, 9e8)}${randomInt(1e6, 9e6)}`, secret: randomBytes(16).toString('hex') })

/** Ids of seventeen digits, ever higher. */
export const idsFrom =
  (prefix: string) =>
  (meta: Collection<string>): (() => string) =>
  () => {
    const last = Number(meta.get('lastId') ?? randomInt(1e9, 2e9))
    const next = last + randomInt(1, 1000)
    meta.set('lastId', String(next))
    return `${prefix}${String(next).padStart(12, '0')}`
  }

/** Which long token was handed out when: only those are extended. */
export type LongTokens = Collection<{ readonly hash: string; readonly issuedAt: number }>

function clientOf(world: OauthWorld, parameters: URLSearchParams): Client | undefined {
  const client = world.clients.get(parameters.get('client_id') ?? '')
  return client && client.secret === parameters.get('client_secret') ? client : undefined
}

const refusedCode = (why: string): Reply =>
  graphError({
    code: why === 'client' ? 1 : 100,
    ...(why !== 'client' && { subcode: 36_009 }),
    message: why === 'client' ? 'Error validating client secret.' : `This authorization code could not be exchanged: ${why}.`,
  })

/** A code for a short token. */
export function exchangeCode(world: OauthWorld, parameters: URLSearchParams): { readonly grant: Grant; readonly accessToken: string } | Reply {
  const client = clientOf(world, parameters)
  if (!client) return refusedCode('client')
  const [code, redirectUri] = [parameters.get('code'), parameters.get('redirect_uri')]
  if (!code || !redirectUri) return refusedCode('missing code or redirect_uri')
  const spent = spendCode(world, client, { code, redirectUri, verifier: null })
  if ('wrong' in spent) return refusedCode(spent.wrong)
  const { accessToken } = spent.tokens
  return { accessToken, grant: findByAccess(world, accessToken)! }
}

/** A short token, or one that is long already, for a long one. @param secret of the application */
export function lengthen(world: OauthWorld, long: LongTokens, token: string | null, secret: string | null): Reply {
  const grant = token === null ? undefined : findByAccess(world, token)
  if (!grant) return noToken()
  if (world.clients.get(grant.clientId)?.secret !== secret) return refusedCode('client')
  return issueLong(world, long, grant)
}

/** A long token, old enough, for another one. */
export function extend(world: OauthWorld, long: LongTokens, call: Call, token: string | null): Reply {
  const { grant, account, fault } = whoShows(world, call, token ?? '')
  if (!grant) return fault ? { ...noToken(), outcome: 'faulted', fault } : noToken()
  const issued = long.get(hashOf(token!))
  if (!issued || world.clock.now().getTime() - issued.issuedAt < oldEnoughMs)
    return graphError({ code: 100, message: '(#100) Only a long-lived token that is at least 24 hours old can be refreshed' })
  const slow = world.faults.take(world.name, ['slow-renewal'], account.username)
  const reply = issueLong(world, long, grant)
  return slow ? { ...reply, outcome: 'faulted', fault: 'slow-renewal', delayMs: slow.delayMs ?? 0 } : reply
}

function issueLong(world: OauthWorld, long: LongTokens, grant: Grant): Reply {
  const now = world.clock.now()
  const token = world.behaviour.newToken('at', now)
  const hash = hashOf(token)
  world.grants.set(grant.id, { ...grant, access: { hash, expiresAt: now.getTime() + longLife * 1000 } })
  long.set(hash, { hash, issuedAt: now.getTime() })
  return json(200, { access_token: token, token_type: 'bearer', expires_in: longLife }, 'granted')
}
