import { codeOf, type DomainError } from '../../../../platform/errors.ts'
import type { Authority } from '../../../authority.ts'
import type { Handler, Handlers } from '../../../http/handlers.ts'
import { escaped, htmlPage, isolated } from '../../../http/html.ts'
import type { Viewer } from '../../../viewer.ts'
import { type Forms, notOwn, refusedPage } from '../../http/form.ts'
import { acceptInvitation, declineInvitation } from '../../membership/invitation/answer.ts'
import { invitationPath } from '../../membership/invitation/rules.ts'
import type { InvitationRow } from '../../stores/invitation.ts'
import type { AccountGround } from '../account/ground.ts'
import { acceptPath, invitationOf } from '../account/invited.ts'
import { usernameField } from './account.ts'
import { loginPath } from './paths.ts'
import { readerOf } from './reader.ts'

interface InvitationNeeds {
  readonly ground: Pick<AccountGround, 'contexts' | 'clock'>
  readonly forms: Forms
  readonly authority: Pick<Authority, 'cookie'>
  /** Handler of `POST …/accept-invitation`. */
  readonly accept: Handler
}

/**
 * Page of an invitation's link: people without an account create one, people with an account sign in and return, and
 * signed-in people accept or decline. Without a link it lists the signed-in person's open invitations. Opening it
 * changes nothing.
 */
export function invitationPages({ ground: { contexts, clock }, forms, authority, accept }: InvitationNeeds): Handlers {
  /** Returns the person who is signed in with this browser. */
  const readerAt = async ({ headers }: Request): Promise<Viewer | null> => readerOf(await authority.cookie(headers))
  const job = () => contexts.systemContext('platform')

  /** Shows the signed-in person the invitations to their verified address. */
  const answering = async (received: readonly InvitationRow[], status = 200, mistake?: string): Promise<Response> => {
    const named = await Promise.all(
      received.map(async ({ id, organizationId }) => ({ id, name: (await job().invitingOrganizations.require(organizationId)).name })),
    )
    const buttons = named.map(
      ({ id, name }) => `<p>${isolated(name)}</p>
<p><button name="accept" value="${id}" aria-label="Join ${escaped(name)}">Join</button> <button name="decline" value="${id}" aria-label="Decline ${escaped(name)}">Decline</button></p>`,
    )
    const sentence = received.length === 1 ? 'You are invited to join this organization.' : 'You are invited to join these organizations.'
    return forms.page(invitationPath, { status, title: 'Invitation', sentence: mistake ?? sentence, fields: buttons.join('\n') })
  }

  const ofReader = async (viewer: Viewer, request: Request, status = 200, mistake?: string): Promise<Response> => {
    const received = await contexts.forRequest(viewer, request).receivedInvitations.waitingFor(viewer.userId!, clock.now())
    return received.length > 0
      ? answering(received, status, mistake)
      : htmlPage(mistake ? status : 200, 'No invitation waits for you', mistake ?? nothing, home)
  }

  const making = async ({ email, organizationId }: InvitationRow, code: string, name = '', status = 200, mistake?: string): Promise<Response> => {
    const organization = await job().invitingOrganizations.require(organizationId)
    return forms.page(invitationPath, {
      status,
      title: 'Join by making an account',
      sentence: mistake ?? [
        'You are invited to join ',
        { name: organization.name },
        '. Choose a password for your account with the address ',
        { name: email },
        '.',
      ],
      hidden: { code },
      fields: `${usernameField(email)}<label>Your name<input name="name" autocomplete="name" maxlength="120" required value="${escaped(name)}"></label>
<label>Password, at least 12 characters<input name="password" type="password" autocomplete="new-password" minlength="12" required></label>
<button>Join</button>`,
    })
  }

  /** Shows the invitation of a link; people with an account get the address to return to it after the sign-in. */
  const ofLink = async (code: string, request: Request, viewer: Viewer | null): Promise<Response> => {
    const invitation = await standing(code)
    if (!invitation) return viewer ? ofReader(viewer, request, 410, dead.sentence) : deadLink()
    const account = await job().accounts.byEmail(invitation.email)
    if (!account) return making(invitation, code)
    if (viewer?.userId === account.userId && account.emailVerified) return answering([invitation])
    const back = `${loginPath}?return_to=${encodeURIComponent(`${invitationPath}?code=${encodeURIComponent(code)}`)}`
    const sentence = ['This invitation is for ', { name: invitation.email }, ', which has an account. Sign in with it, and you come back here.']
    return htmlPage(
      200,
      'Sign in to answer',
      viewer ? [...sentence, ' You are signed in with another address now.'] : sentence,
      `<p><a href="${escaped(back)}">Sign in</a></p>`,
    )
  }

  const standing = (code: string): Promise<InvitationRow | null> => invitationOf(job(), code, clock.now()).catch(refusedOr(null))

  const answer = async (viewer: Viewer, request: Request, fields: URLSearchParams): Promise<Response> => {
    const context = contexts.forRequest(viewer, request)
    const accepted = fields.get('accept')
    try {
      const { organizationId } = accepted ? await acceptInvitation(context, accepted) : await declineInvitation(context, fields.get('decline') ?? '')
      const { name } = await job().invitingOrganizations.require(organizationId)
      return accepted
        ? htmlPage(200, 'You have joined', ['You are a member of ', { name }, ' now. To work there, choose it among your organizations.'], home)
        : htmlPage(200, 'You have declined', ['You do not join ', { name }, '. Should you change your mind, ask to be invited again.'], home)
    } catch (error) {
      if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
      return ofReader(viewer, request, 409, (error as DomainError).message)
    }
  }

  return {
    async [`GET ${invitationPath}`](request) {
      const code = new URL(request.url).searchParams.get('code')
      const viewer = await readerAt(request)
      if (code !== null) return ofLink(code, request, viewer)
      return viewer ? ofReader(viewer, request) : htmlPage(200, 'Sign in to see your invitations', toSignIn, signIn)
    },

    async [`POST ${invitationPath}`](request, nobody) {
      const { fields, isOwn } = await forms.read(request)
      const [viewer, code] = [await readerAt(request), fields.get('code')]
      const answers = fields.has('accept') || fields.has('decline')
      if (answers) {
        if (!viewer) return htmlPage(401, 'You are not signed in any more', toSignIn, signIn)
        return isOwn ? answer(viewer, request, fields) : ofReader(viewer, request, 400, notOwn)
      }
      const invitation = code && (await standing(code))
      if (!invitation) return deadLink()
      const name = fields.get('name') ?? ''
      if (!isOwn) return making(invitation, code, name, 400, notOwn)
      const made = await forms.ask(accept, request, acceptPath, { code, name, password: fields.get('password') ?? '' }, nobody)
      if (made.ok) {
        const headers = new Headers({ location: '/', 'cache-control': 'no-store' })
        for (const line of made.headers.getSetCookie()) headers.append('set-cookie', line)
        return new Response(null, { status: 303, headers })
      }
      if (made.body.reason === 'CODE') return deadLink()
      if (made.body.reason === 'ACCOUNT') return ofLink(code, request, viewer)
      return refusedPage(await making(invitation, code, name, made.status, String(made.body.detail)), made)
    },
  }
}

/** Answers a domain error with a page; other errors are thrown. */
const refusedOr =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
    return value
  }

const home = '<p><a href="/">Go on</a></p>'
const nothing = 'You have answered every invitation to the verified address of your account, or it has none.'
const toSignIn = 'Invitations are shown after you sign in with the invited address. The link in the mail leads here too.'
const signIn = `<p><a href="${loginPath}?return_to=${encodeURIComponent(invitationPath)}">Sign in</a></p>`
const dead = {
  title: 'This link is not good any more',
  sentence:
    'The invitation was answered or revoked, was replaced by a newer mail, or is older than seven days: ask the person who invited you to send it again.',
}
const deadLink = (): Response => htmlPage(410, dead.title, dead.sentence, `<p><a href="${loginPath}">Sign in</a></p>`)
