import { address, issuer, oneOf, text } from './readers.ts'
import { setting } from './setting.ts'

/** What identity falls back on. */
export const registry = {
  production: setting('PRODUCTION_REGISTRY_URL', address, {
    fallback: null,
    by: ['all', 'subgraph'],
    does: "`https://api.example.com/identity/api/services`: the registry of production, for staging to know. Below it an entry is found by its slug; its addresses follow staging's own, marked as production's, and are logged when they are handed out. Without it none follow. Only in staging.",
  }),
}

/** Who has an account. */
export const accounts = {
  signUp: setting('SIGN_UP', oneOf('open', 'invited'), {
    fallback: 'open',
    by: ['all', 'subgraph'],
    does: '`open`: everybody may make an account, and belongs to no organization until they make one or are invited. `invited`: accounts are made by invitation alone, and signing up is 403 for everybody. Identity alone needs it.',
  }),
}

/** Who says who people are, in place of identity. */
export const foreignIssuer = {
  issuer: setting('AUTH_ISSUER', issuer, {
    fallback: null,
    without: 'identity itself',
    by: ['all', 'router', 'subgraph'],
    does: 'The issuer of access tokens in place of identity, exactly as they name it in `iss`: `https://login.example.com/`. People are known by `iss` and `sub`, and made at first sight; whoever signs people in, it is not this platform then. With `AUTH_JWKS_URL`, or not at all.',
  }),
  jwksUrl: setting('AUTH_JWKS_URL', address, {
    fallback: null,
    by: ['all', 'router', 'subgraph'],
    does: 'Where that issuer publishes its keys (RFC 7517).',
  }),
  audience: setting('AUTH_AUDIENCE', text, {
    fallback: 'supergraph',
    by: ['all', 'router', 'subgraph'],
    does: 'What tokens of that issuer must name in `aud`.',
  }),
}
