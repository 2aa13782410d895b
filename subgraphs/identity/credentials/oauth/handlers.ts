import type { Handlers } from '../../../http/handlers.ts'
import type { Forms } from '../../http/form.ts'
import { credentialsPath } from '../names.ts'
import { protocol } from './answers.ts'
import { type Authorizing, authorizeByForm, consentPath, createAuthorize } from './authorize.ts'
import { createConsentHandler, createConsentPage } from './consent.ts'
import { createDiscovery, discoveryPaths } from './discovery.ts'
import { createIntrospection, createRevocation, createUserinfo, type Inspecting } from './inspect.ts'
import { createTokenHandler, type Giving } from './token.ts'

interface Needs extends Authorizing, Giving, Inspecting {
  readonly authority: Authorizing['authority'] & Inspecting['authority']
  readonly forms: Forms
  trustsOrigin(origin: string): boolean
}

/** Handlers of OAuth 2.1 and OpenID Connect, by method and path. */
export function oauthHandlers(needs: Needs): Handlers {
  const trusts = (origin: string) => origin === needs.publicUrl || needs.trustsOrigin(origin)
  const of = (exchange: Parameters<typeof protocol>[1]) => protocol(trusts, exchange)
  const page = createConsentPage(needs, needs.forms)
  const authorize = of(createAuthorize(needs))
  const userinfo = of(createUserinfo(needs))
  const at = (method: 'GET' | 'POST', path: string) => `${method} ${credentialsPath}/oauth2/${path}`
  return {
    ...Object.fromEntries(discoveryPaths.map(path => [`GET ${path}`, createDiscovery(needs.publicUrl)])),
    [at('GET', 'authorize')]: authorize,
    [at('POST', 'authorize')]: authorizeByForm(needs, authorize),
    [at('POST', 'consent')]: of(createConsentHandler(needs, trusts)),
    [at('POST', 'token')]: of(createTokenHandler(needs)),
    [at('POST', 'revoke')]: of(createRevocation(needs)),
    [at('POST', 'introspect')]: of(createIntrospection(needs)),
    [at('GET', 'userinfo')]: userinfo,
    [at('POST', 'userinfo')]: userinfo,
    [`GET ${consentPath}`]: page,
    [`POST ${consentPath}`]: page,
  }
}
