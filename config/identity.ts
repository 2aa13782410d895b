import { address, issuer, oneOf, text } from './readers.ts'
import { setting } from './setting.ts'

/** What identity falls back on. */
export const registry = {
  production: setting('PRODUCTION_REGISTRY_URL', address, {
    fallback: null,
    by: ['all', 'subgraph'],
    does: "Service registry of production, for staging only: `https://api.example.com/identity/api/services`. Its addresses follow staging's own, marked as production's.",
  }),
}

/** Who has an account. */
export const accounts = {
  signUp: setting('SIGN_UP', oneOf('open', 'invited'), {
    fallback: 'open',
    by: ['all', 'subgraph'],
    does: '`open`: anyone may create an account. `invited`: only by invitation, sign-up is 403.',
  }),
}

/** Who says who people are, in place of identity. */
export const foreignIssuer = {
  issuer: setting('AUTH_ISSUER', issuer, {
    fallback: null,
    without: 'identity itself',
    by: ['all', 'router', 'subgraph'],
    does: 'Issuer of access tokens instead of identity, exactly as in `iss`. Requires `AUTH_JWKS_URL`. See [External token issuer](services.md#external-token-issuer).',
  }),
  jwksUrl: setting('AUTH_JWKS_URL', address, {
    fallback: null,
    by: ['all', 'router', 'subgraph'],
    does: 'JWKS address of that issuer.',
  }),
  audience: setting('AUTH_AUDIENCE', text, {
    fallback: 'supergraph',
    by: ['all', 'router', 'subgraph'],
    does: 'Required `aud` of its tokens.',
  }),
}
