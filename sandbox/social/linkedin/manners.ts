import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { textOf } from '../../network.ts'
import { hashOf } from '../../oauth/grants.ts'
import type { Behaviour, Client, OauthWorld, Wrong } from '../../oauth/world.ts'
import { oauthError } from './problems.ts'

/**
 * Permissions that each scope gives an application:
 * https://learn.microsoft.com/linkedin/shared/authentication/getting-access
 */
const scopes: Readonly<Record<string, string>> = {
  openid: 'Use your name and photo',
  profile: 'Use your name and photo',
  email: 'Use the primary email address of your LinkedIn account',
  w_member_social: 'Create, modify, and delete posts, comments, and reactions on your behalf',
  r_basicprofile: 'Use your basic profile including your name, photo, headline, and public profile URL',
  w_organization_social: "Create, modify, and delete posts, comments, and reactions on your organization's behalf",
  r_organization_social: "Retrieve your organization's posts, comments, reactions, and other engagement data",
  rw_organization_admin: "Manage your organization's pages and retrieve reporting data",
}

/** Scopes of each kind of application: sign-in and sharing are self-service, pages need LinkedIn's review. */
export const personScopes = ['openid', 'profile', 'email', 'w_member_social'] as const
export const pageScopes = ['r_basicprofile', 'w_organization_social', 'r_organization_social', 'rw_organization_admin'] as const

/** Returns LinkedIn's answer to an invalid token request. */
function refuse(wrong: Wrong): Reply {
  if (typeof wrong === 'object') return oauthError(400, 'invalid_request', `A required parameter "${wrong.missing}" is missing`)
  if (wrong === 'client') return oauthError(401, 'invalid_client', 'Client authentication failed')
  if (wrong === 'grant type') return oauthError(400, 'unsupported_grant_type', 'The passed in grant_type is invalid')
  return oauthError(400, 'invalid_request', invalid[wrong])
}

const invalid = {
  form: 'The body has to be application/x-www-form-urlencoded',
  code: 'Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists',
  'redirect uri':
    'Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists',
  verifier: 'The code verifier does not match',
  token: 'The provided refresh token is invalid, expired or revoked',
}

/** Authenticates the application; LinkedIn accepts id and secret in the form only. */
function authenticate(world: OauthWorld, call: Call): Client | undefined {
  const form = new URLSearchParams(textOf(call))
  const client = world.clients.get(form.get('client_id') ?? '')
  const shown = Buffer.from(hashOf(form.get('client_secret') ?? ''))
  return client && timingSafeEqual(shown, Buffer.from(hashOf(client.secret))) ? client : undefined
}

const daySeconds = 86_400

/**
 * LinkedIn's variation of OAuth 2.0: https://learn.microsoft.com/linkedin/shared/authentication/authorization-code-flow
 */
export const behaviour: Behaviour = {
  title: 'LinkedIn',
  scopes,
  // Programs that manage pages are approved partners:
  // https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens
  refreshScope: 'w_organization_social',
  pkce: null,
  scopesByComma: true,
  refreshStays: true,
  codeLifetime: 1_800_000,
  accessLifetime: 60 * daySeconds,
  refreshLifetime: 365 * daySeconds * 1000,
  newToken: kind => `AQ${kind === 'ac' ? 'T' : kind === 'at' ? 'V' : 'W'}${randomBytes(48).toString('base64url')}`,
  authenticate,
  refuse,
  // LinkedIn's id tokens name another issuer and have no `typ`.
  tell: ({ scopes: granted }, { refreshExpiresIn }) => ({
    token_type: undefined,
    ...(granted.includes('openid') && { id_token: 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL3d3dy5saW5rZWRpbi5jb20ifQ.' }),
    ...(refreshExpiresIn !== undefined && { refresh_token_expires_in: refreshExpiresIn }),
  }),
}
