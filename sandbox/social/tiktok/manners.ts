import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { textOf } from '../../network.ts'
import { hashOf } from '../../oauth/grants.ts'
import type { Behaviour, Client, OauthWorld, Wrong } from '../../oauth/world.ts'
import { oauthError } from './problems.ts'

/** What each scope lets an application do: https://developers.tiktok.com/doc/tiktok-api-scopes */
const scopes: Readonly<Record<string, string>> = {
  'user.info.basic': 'Read your profile info (avatar, display name)',
  'video.upload': 'Share content to your account as a draft to further edit and post in TikTok',
  'video.publish': 'Post content to TikTok',
}

export const everyScope = Object.keys(scopes)

/** What TikTok answers to a wrong request for a token. */
function refuse(wrong: Wrong): Reply {
  if (typeof wrong === 'object') return oauthError('invalid_request', `The request parameters are malformed: ${wrong.missing} is missing.`)
  if (wrong === 'client') return oauthError('invalid_client', 'Client key or secret is incorrect.')
  if (wrong === 'grant type') return oauthError('unsupported_grant_type', 'The grant type is not supported.')
  if (wrong === 'form') return oauthError('invalid_request', 'Only `application/x-www-form-urlencoded` is supported as Content-Type.')
  return oauthError('invalid_grant', invalid[wrong])
}

const invalid = {
  code: 'Authorization code is expired.',
  'redirect uri': 'Redirect_uri is not matched with the uri when requesting code.',
  verifier: 'Code verifier is invalid.',
  token: 'Refresh token is invalid or expired.',
}

/** TikTok takes key and secret in the form alone. */
function authenticate(world: OauthWorld, call: Call): Client | undefined {
  const form = new URLSearchParams(textOf(call))
  const client = world.clients.get(form.get('client_key') ?? '')
  const shown = Buffer.from(hashOf(form.get('client_secret') ?? ''))
  return client && timingSafeEqual(shown, Buffer.from(hashOf(client.secret))) ? client : undefined
}

const daySeconds = 86_400
const prefixes = { ac: '', at: 'act.', rt: 'rft.' } as const

/** OAuth 2.0 as TikTok speaks it: https://developers.tiktok.com/doc/login-kit-desktop has the digest in hexadecimal digits. */
export const behaviour: Behaviour = {
  title: 'TikTok',
  scopes,
  pkce: 'hex',
  clientParameter: 'client_key',
  scopesByComma: true,
  codeLifetime: 600_000,
  accessLifetime: daySeconds,
  refreshLifetime: 365 * daySeconds * 1000,
  newToken: kind => `${prefixes[kind]}${randomBytes(36).toString('base64url')}`,
  authenticate,
  refuse,
  tell: ({ accountId }, { refreshExpiresIn }) => ({ open_id: accountId, refresh_expires_in: refreshExpiresIn, token_type: 'Bearer' }),
}
