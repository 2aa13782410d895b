import type { Authority, CookieSession } from '../../../authority.ts'
import { readFields } from '../../../http/body.ts'
import type { Handler } from '../../../http/handlers.ts'
import { escaped, isolated, leavingPage } from '../../../http/html.ts'
import { write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import { type Forms, notOwn } from '../../http/form.ts'
import type { OAuthClientRow } from '../../stores/credentials/oauth-client.ts'
import type { GrantCode } from '../../stores/credentials/oauth-grant.ts'
import { loginPath } from '../pages/paths.ts'
import { deadEnd, type Fault, fault, faulted, isFault, jsonAnswer, ledTo } from './answers.ts'
import { type Authorizing, consentPath, grantedTo, personOf } from './authorize.ts'
import { withParameters, wordsOf } from './rules.ts'

/** Error for every consent request that is unknown, answered, expired or another person's. */
const over = fault('invalid_request', 'This request was answered before, is older than ten minutes, or never was: go back to the application and start again.')

interface Decision {
  readonly redirectTo: string
  /** The consent that was given; null for none. */
  readonly consentId: string | null
}

/** Applies a person's decision on a client's request, once. The resulting code is only sent in the redirect. */
async function decide({ publicUrl, open }: Authorizing, request: Request, session: CookieSession, clear: string, accept: boolean): Promise<Decision | Fault> {
  const context = open(personOf(session), request)
  const { oauthGrants, oauthClients, oauthConsents } = context
  const { userId } = session
  let asked: GrantCode | undefined
  const decision = await write(context, {
    async run(unit): Promise<Decision | null> {
      const found = await held(context, clear, userId, unit.now, unit.transaction)
      if (!found) return null
      asked = found
      await oauthGrants.remove(found, unit.transaction)
      const client = await oauthClients.standing(found.clientId, unit.transaction)
      if (!client) return null
      const { redirectUri, state } = found.asked
      const refused = { error: 'access_denied', error_description: 'The person said no.', state, iss: publicUrl }
      if (!accept) return { redirectTo: withParameters(redirectUri, refused), consentId: null }
      const consentId = await oauthConsents.grant(userId, client.clientId, found.asked.scopes, unit)
      const agreed = { ...found.asked, askedBy: session.sessionId }
      const code = await oauthGrants.issue('code', { userId, clientId: client.clientId, asked: agreed }, unit)
      return { redirectTo: grantedTo(found.asked, code, publicUrl), consentId }
    },
    audit: ({ consentId }) =>
      consentId && asked
        ? {
            tenantId: asked.asked.organizationId ?? userId,
            action: 'consent.granted',
            subjectId: consentId,
            personId: userId,
            details: { clientId: asked.clientId, scopes: asked.asked.scopes.join(' ') },
          }
        : null,
  })
  return decision ?? over
}

/** A request that waits for this person. */
async function held(
  { oauthGrants }: Pick<Context, 'oauthGrants'>,
  clear: string,
  userId: string,
  now: Date,
  transaction?: Parameters<Context['oauthGrants']['find']>[2],
): Promise<GrantCode | null> {
  const found = await oauthGrants.find('consent', clear, transaction)
  return found && found.userId === userId && found.expiresAt > now ? found : null
}

const signedIn = async (authority: Pick<Authority, 'cookie'>, request: Request): Promise<CookieSession | null> => {
  const session = await authority.cookie(request.headers)
  return session === 'stale' ? null : session
}

/** Handles `POST …/oauth2/consent`, by which our page sends the person's decision. */
export const createConsentHandler =
  (needs: Authorizing, trusts: (origin: string) => boolean): Handler =>
  async request => {
    const origin = request.headers.get('origin')
    if (origin === null || !trusts(origin))
      return faulted(fault('invalid_request', 'Consent is given on a page of the platform: its Origin has to come along.', 403))
    const session = await signedIn(needs.authority, request)
    if (!session) return faulted(fault('login_required', 'You are not signed in: sign in, then decide.', 401))
    const { request: clear, accept } = await readFields(request)
    if (typeof clear !== 'string' || typeof accept !== 'boolean') return faulted(fault('invalid_request', 'Send { "request": "…", "accept": true or false }.'))
    const decision = await decide(needs, request, session, clear, accept)
    return isFault(decision) ? faulted(decision) : jsonAnswer({ redirectTo: decision.redirectTo })
  }

/**
 * Creates the consent page: it shows the client, the scopes, the organization and the redirect's host, and its form
 * sends the decision.
 */
export function createConsentPage(needs: Authorizing, forms: Forms): Handler {
  const { authority, open, clock, publicUrl } = needs
  const ended = () => deadEnd(400, 'This request is over', over.description)

  const show = async (request: Request, session: CookieSession, clear: string, more?: string): Promise<Response> => {
    const context = open(personOf(session), request)
    const found = await held(context, clear, session.userId, clock.now())
    const client = found && (await context.oauthClients.standing(found.clientId))
    if (!found || !client) return ended()
    const [person, organization] = await Promise.all([context.users.find(session.userId), context.organizations.find(found.asked.organizationId)])
    return forms.page(consentPath, {
      status: more ? 400 : 200,
      title: 'Allow an application?',
      sentence: more ?? [{ name: client.name }, client.trusted ? ' asks to act as you.' : ' asks to act for you.'],
      hidden: { request: clear },
      fields: `${asks(client, found, organization?.name ?? null, person?.name ?? '')}
<p><button name="accept" value="true">Allow</button> <button name="accept" value="false">Do not allow</button></p>`,
    })
  }

  return async request => {
    const isSent = request.method === 'POST'
    const { fields, isOwn } = isSent ? await forms.read(request) : { fields: new URL(request.url).searchParams, isOwn: true }
    const clear = fields.get('request') ?? ''
    const session = await signedIn(authority, request)
    if (!session) return ledTo(`${publicUrl}${loginPath}?${new URLSearchParams({ return_to: `${consentPath}?${new URLSearchParams({ request: clear })}` })}`)
    if (!isSent) return show(request, session, clear)
    if (!isOwn) return show(request, session, clear, notOwn)
    const accept = fields.get('accept')
    if (accept !== 'true' && accept !== 'false') return show(request, session, clear, 'Choose one of the two.')
    const decision = await decide(needs, request, session, clear, accept === 'true')
    return isFault(decision)
      ? ended()
      : leavingPage(decision.redirectTo, accept === 'true' ? 'You are being led on.' : 'The application was not allowed. You are being led back to it.')
  }
}

/** Renders the request as HTML. */
function asks(client: OAuthClientRow, { asked }: GrantCode, organization: string | null, person: string): string {
  const words = asked.scopes.map(scope => `<li>${escaped(wordsOf(scope))}</li>`).join('')
  const may = client.trusted ? '<p>It is an application of the platform: it may do whatever you may do.</p>' : `<p>It will be able to:</p><ul>${words}</ul>`
  return `<p>You are ${isolated(person)}, and it will act ${organization === null ? 'for you alone, in no organization' : `in the organization ${isolated(organization)}`}.</p>
${may}
<p>You will be led to <b>${isolated(placeOf(asked.redirectUri))}</b>. You can take this back at any time.</p>`
}

/** Returns the part of an address that shows people where it leads. */
const placeOf = (uri: string): string => {
  const { protocol, host } = new URL(uri)
  return protocol === 'https:' ? host : protocol === 'http:' ? 'an application on this device' : `the application ${protocol.slice(0, -1)} on this device`
}
