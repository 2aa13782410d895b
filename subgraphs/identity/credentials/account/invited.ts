import { DomainError } from '../../../../platform/errors.ts'
import { readFields } from '../../../http/body.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { record, type WriteTransaction, writeFacts } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import { publicHandler } from '../../http/public.ts'
import { factsOfJoining, join, joined } from '../../membership/invitation/answer.ts'
import { readName } from '../../organization/rules.ts'
import { announceViewer } from '../../session/announce.ts'
import { openSession } from '../../session/opening.ts'
import { codeRefusal } from '../../stores/code.ts'
import { type InvitationRow, statusAt } from '../../stores/invitation.ts'
import { credentialsPath } from '../names.ts'
import { readNewPassword } from '../password.ts'
import { type AccountGround, answerOf, done, type Work } from './ground.ts'

/** Path at which a person without an account accepts an invitation. */
export const acceptPath = `${credentialsPath}/accept-invitation`

/** Handlers for invited people without an account. */
export const invitedHandlers = (ground: AccountGround): Handlers => ({
  [`POST ${acceptPath}`]: publicHandler(ground, request => accept(ground, request), { signsIn: true }),
})

/**
 * Creates the account of an invited address, its membership and a session, all or nothing. The code proves that the
 * person reads mail at the address, so it counts as verified. An error leaves the code valid.
 */
async function accept(ground: AccountGround, request: Request): Promise<Response> {
  const { clock, contexts, hashing, clientAddressHeader } = ground
  const fields = await readFields(request)
  const work = contexts.systemContext('platform')
  const invitation = await invitationOf(work, fields.code, clock.now())
  if (await work.accounts.byEmail(invitation.email)) throw hasAccount()
  const name = readName(typeof fields.name === 'string' ? fields.name : '', 'name')
  const password = readNewPassword(fields.password, 'password', invitation.email)
  const hashed = await hashing.hash(password, 'known', () => invitationOf(work, fields.code, clock.now()))
  const from = { ipAddress: request.headers.get(clientAddressHeader), userAgent: request.headers.get('user-agent') }
  const { userId, session } = await inTransaction(work, async unit => {
    const userId = await make(work, invitation, { code: fields.code, name, hashed }, unit)
    return { userId, session: await openSession(work, { userId, kind: 'password', organizationId: invitation.organizationId, from }, unit) }
  })
  announceViewer(work.events, userId)
  const answer = answerOf(200, {
    accessToken: session.accessToken,
    expiresAt: session.expiresAt.toISOString(),
    user: { id: userId, email: invitation.email, name },
  })
  for (const line of session.cookies) answer.headers.append('set-cookie', line)
  return answer
}

/** Returns the invitation of a code. @throws BAD_USER_INPUT, reason CODE */
export async function invitationOf(work: Work, code: unknown, now: Date): Promise<InvitationRow> {
  const { subject } = await work.codes.find('invitation', code, now)
  const invitation = await work.invitations.byId.load(subject)
  if (!invitation || statusAt(invitation, now) !== 'pending') throw codeRefusal()
  return invitation
}

interface Given {
  readonly code: unknown
  readonly name: string
  /** The password's stored hash. */
  readonly hashed: string
}

/**
 * Creates the account and the membership. Concurrent requests with one code wait for each other. @returns the person
 */
async function make(work: Work, { id, organizationId }: InvitationRow, { code: clear, name, hashed }: Given, unit: WriteTransaction): Promise<string> {
  const { accounts, codes, invitations, invitingOrganizations, users } = work
  const { transaction, now } = unit
  await invitingOrganizations.lock(organizationId, transaction)
  const invitation = await invitations.lock(id, transaction)
  if (!invitation || statusAt(invitation, now) !== 'pending') throw codeRefusal()
  await codes.hold('invitation', clear, unit)
  const userId = await accounts.add({ name, email: invitation.email, password: hashed }, unit)
  if (userId === null) throw hasAccount()
  const person = await users.lock(userId, transaction)
  await users.update(person!, { emailVerified: true, lastSignedInAt: now }, transaction)
  const membership = await join(work, invitation, userId, unit)
  const accepted = await invitations.update(invitation, { status: 'accepted', updatedAt: now, version: invitation.version + 1 }, transaction)
  await record(work, done(userId, 'account.created'), unit)
  await record(work, { tenantId: organizationId, action: 'invitation.accepted', subjectId: id, actor: `user:${userId}`, personId: userId }, unit)
  await joined(work, accepted, membership, userId, unit)
  await writeFacts(work, factsOfJoining(accepted, membership), unit)
  return userId
}

/** Error for an invited person with an account: the code stays valid for after the sign-in. */
const hasAccount = (): DomainError =>
  new DomainError('CONFLICT', 'The invited address has an account: sign in with it, then accept the invitation there.', { reason: 'ACCOUNT' })
