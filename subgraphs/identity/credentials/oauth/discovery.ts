import type { Handler } from '../../../http/handlers.ts'
import { everyScope } from '../../../scopes.ts'
import { authorizePath, credentialsPath } from '../names.ts'
import { openidScopes } from './rules.ts'

/** Paths of the discovery documents (OpenID Connect Discovery §4, RFC 8414 §3), on every host. */
export const discoveryPaths = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const

/** Handles discovery: the platform's metadata for OAuth clients. */
export function createDiscovery(publicUrl: string): Handler {
  const at = (path: string) => `${publicUrl}${credentialsPath}/oauth2/${path}`
  const byBasic = ['client_secret_basic'] as const
  const document = {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}${authorizePath}`,
    token_endpoint: at('token'),
    revocation_endpoint: at('revoke'),
    introspection_endpoint: at('introspect'),
    userinfo_endpoint: at('userinfo'),
    jwks_uri: `${publicUrl}${credentialsPath}/jwks`,
    scopes_supported: [...openidScopes, ...everyScope],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...byBasic, 'none'],
    revocation_endpoint_auth_methods_supported: [...byBasic, 'none'],
    introspection_endpoint_auth_methods_supported: byBasic,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'name', 'picture', 'email', 'email_verified'],
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
  }
  return async () => Response.json(document, { headers: { 'cache-control': 'public, max-age=300' } })
}
