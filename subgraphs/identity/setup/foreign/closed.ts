import { DomainError } from '../../../../platform/errors.ts'
import type { Handler, Handlers } from '../../../http/handlers.ts'
import { htmlPage } from '../../../http/html.ts'
import type { Noun } from '../../../wiring/define.ts'
import type { ResolverMap } from '../../../wiring/executable.ts'
import { credentialsPath } from '../../credentials/names.ts'
import type { ForeignIssuer } from '../../credentials/settings.ts'
import { invitationPath } from '../../membership/invitation/rules.ts'

const elsewhere = (issuer: string) =>
  new DomainError('CONFLICT', `People sign in at ${issuer}, and not here: who they are and how long, that issuer says.`, { reason: 'EXTERNAL_ISSUER' })

/** Matches routes below `/identity/api/auth` about the person, not about signing in. */
const ofPersons = /^(?:GET|PUT|DELETE|POST) [^ ]*\/(?:me|me\/recovery-email|apps|change-password|change-email)$/
const isPage = /^(?:GET|POST) \/identity\/(?:login|sign-up|consent|verify-email|reset-password|invitation|verify-recovery-email)$/
const discovery = /^GET \/(?:identity\/)?\.well-known\/(?:openid-configuration|oauth-authorization-server)$/

/** Root fields about sessions, handoffs and OAuth clients. */
const closed: Readonly<Record<string, readonly string[]>> = {
  Query: ['sessions', 'oauthClients', 'consents'],
  Mutation: [
    'switchOrganization',
    'switchContext',
    'revokeSession',
    'revokeSessions',
    'createHandoff',
    'createOAuthClient',
    'updateOAuthClient',
    'disableOAuthClient',
    'revokeConsent',
  ],
}

/**
 * Disables identity's sign-in for another issuer: its routes and root fields about sign-in, sessions, handoffs and
 * OAuth clients are rejected, and the issuer publishes the keys.
 * @param foreign issuer of access tokens in place of identity; null leaves everything enabled
 */
export function nounsUnder<At>(nouns: Readonly<Record<string, Noun<At>>>, foreign: ForeignIssuer | null): Readonly<Record<string, Noun<At>>> {
  if (!foreign) return nouns
  const under = (noun: Noun<At>): Noun<At> => ({
    ...noun,
    ...(noun.resolvers && { resolvers: resolversUnder(noun.resolvers, foreign) }),
    ...(noun.handlers && { handlers: at => exchangesUnder(noun.handlers!(at), foreign) }),
  })
  return Object.fromEntries(Object.entries(nouns).map(([name, noun]) => [name, under(noun)]))
}

function exchangesUnder(exchanges: Handlers, { issuer, jwksUrl }: ForeignIssuer): Handlers {
  const to =
    (url: string): Handler =>
    async () =>
      new Response(null, { status: 307, headers: { location: url, 'cache-control': 'no-store' } })
  const refused: Handler = async () => {
    throw elsewhere(issuer)
  }
  const sentence = `People sign in at ${issuer}, and not here. Open the app that you came from, and sign in there.`
  const page: Handler = async () => htmlPage(409, 'Sign in elsewhere', sentence)
  // The invitation mail links here; the external issuer knows the invited address, and the application lists open invitations.
  const invited = `${sentence} With the address to which the mail came you see the invitation there, and accept or decline it.`
  const invitation: Handler = async () => htmlPage(409, 'Answer in your application', invited)
  const answerOf = (at: string, own: Handler): Handler => {
    if (at === `GET ${credentialsPath}/jwks`) return to(jwksUrl)
    if (discovery.test(at)) return to(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    if (isPage.test(at)) return at.endsWith(invitationPath) ? invitation : page
    return at.includes(` ${credentialsPath}/`) && !ofPersons.test(at) ? refused : own
  }
  return Object.fromEntries(Object.entries(exchanges).map(([at, own]) => [at, answerOf(at, own)]))
}

function resolversUnder(resolvers: ResolverMap, { issuer }: ForeignIssuer): ResolverMap {
  const refuse = () => {
    throw elsewhere(issuer)
  }
  return Object.fromEntries(
    Object.entries(resolvers).map(([type, fields = {}]) => {
      const names = (closed[type] ?? []).filter(name => name in fields)
      return [type, names.length > 0 ? { ...fields, ...Object.fromEntries(names.map(name => [name, refuse])) } : fields]
    }),
  )
}
