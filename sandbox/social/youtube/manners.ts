import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { json, textOf } from '../../network.ts'
import { hashOf } from '../../oauth/grants.ts'
import type { Behaviour, Client, OauthWorld, Wrong } from '../../oauth/world.ts'

const scope = (name: string) => `https://www.googleapis.com/auth/${name}`

/** Scope for managing a whole channel, which change and removal calls of the official client need. */
export const managing = scope('youtube')
export const uploading = scope('youtube.upload')
export const reading = scope('youtube.readonly')

/** The scopes that publishing requests. */
export const publishingScopes = [uploading, reading]

/** A refusal of the authorization server: https://developers.google.com/identity/protocols/oauth2/web-server */
export const oauthError = (status: number, error: string, description: string): Reply => ({
  ...json(status, { error, error_description: description }, 'refused'),
  reason: description,
})

function refuse(wrong: Wrong): Reply {
  if (typeof wrong === 'object') return oauthError(400, 'invalid_request', `Missing required parameter: ${wrong.missing}`)
  if (wrong === 'client') return oauthError(401, 'invalid_client', 'Unauthorized')
  if (wrong === 'grant type') return oauthError(400, 'unsupported_grant_type', 'Invalid grant_type')
  if (wrong === 'form') return oauthError(400, 'invalid_request', 'Bad Request')
  if (wrong === 'redirect uri') return oauthError(400, 'redirect_uri_mismatch', 'Bad Request')
  return oauthError(400, 'invalid_grant', wrong === 'token' ? 'Token has been expired or revoked.' : 'Malformed auth code.')
}

/** Google takes id and secret in the form, or by the Basic scheme. */
function authenticate(world: OauthWorld, call: Call): Client | undefined {
  const form = new URLSearchParams(textOf(call))
  const [, basic = ''] = /^Basic (\S+)$/i.exec(call.headers.authorization ?? '') ?? []
  const [id = '', secret = ''] = basic ? Buffer.from(basic, 'base64').toString('utf8').split(':').map(decodeURIComponent) : []
  const client = world.clients.get(form.get('client_id') ?? id)
  const shown = Buffer.from(hashOf(form.get('client_secret') ?? secret))
  return client && timingSafeEqual(shown, Buffer.from(hashOf(client.secret))) ? client : undefined
}

const prefixes = { ac: '4/0A', at: 'ya29.sandbox-', rt: '1//0' } as const
const daySeconds = 86_400

/** OAuth 2.0 as Google speaks it: a refresh token comes with each consent to offline access, stays, and is told once. */
export const behaviour: Behaviour = {
  title: 'YouTube',
  scopes: { [uploading]: 'Manage your YouTube videos', [reading]: 'View your YouTube account', [managing]: 'Manage your YouTube account' },
  pkce: null,
  asksRefresh: query => query.get('access_type') === 'offline' && /\bconsent\b/.test(query.get('prompt') ?? ''),
  codeLifetime: 600_000,
  accessLifetime: 3_600,
  refreshLifetime: 365 * daySeconds * 1000,
  refreshStays: true,
  tellsRefreshAgain: false,
  newToken: kind => `${prefixes[kind]}${randomBytes(36).toString('base64url')}`,
  authenticate,
  refuse,
  tell: () => ({ token_type: 'Bearer' }),
}

/** Ends all that an account has granted, by whichever of its tokens: https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke */
export function revoke(world: OauthWorld, call: Call): Reply {
  const hash = hashOf(new URLSearchParams(textOf(call)).get('token') ?? call.query.get('token') ?? '')
  const grant = world.grants.values().find(({ access, refresh }) => access?.hash === hash || refresh?.hash === hash)
  if (!grant) return oauthError(400, 'invalid_token', 'Token expired or revoked')
  world.grants.delete(grant.id)
  return json(200, {}, 'granted')
}
