import { DomainError } from '../../../../platform/errors.ts'
import { fieldsOf, readBody, readFields } from '../../../http/body.ts'
import type { Handler, Handlers } from '../../../http/handlers.ts'
import { record } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import { requirePerson, type Viewer } from '../../../viewer.ts'
import { endSessions } from '../../session/opening.ts'
import type { Account } from '../../stores/account/account.ts'
import { shownOf } from '../../stores/account/recovery-email.ts'
import { tooManyAttempts } from '../guessing/attempts.ts'
import { credentialsPath } from '../names.ts'
import { readNewPassword, readPassword } from '../password.ts'
import { type AccountGround, answerOf, done, type OwnWork, setPassword } from './ground.ts'
import { freshMs, readEmail } from './rules.ts'

/** Handlers for a person's own account. */
export const ownAccountHandlers = (ground: AccountGround): Handlers => {
  const exchange =
    (row: (ground: AccountGround, own: Own) => Promise<Response>): Handler =>
    async (request, viewer) => {
      const work = ground.contexts.forRequest(viewer, request)
      const userId = requirePerson(viewer)
      const account = await work.accounts.byId(userId)
      if (!account) throw new DomainError('UNAUTHENTICATED', 'The account does not exist any more: sign in with another.')
      return row(ground, { request, viewer, work, userId, account })
    }
  return {
    [`POST ${credentialsPath}/change-password`]: exchange(changePassword),
    [`POST ${credentialsPath}/change-email`]: exchange(changeEmail),
    [`GET ${recoveryPath}`]: exchange(showRecoveryEmail),
    // The same under the launcher's prefix, beside its own `me`.
    'GET /launcher/api/auth/me/recovery-email': exchange(showRecoveryEmail),
    [`PUT ${recoveryPath}`]: exchange(setRecoveryEmail),
    [`DELETE ${recoveryPath}`]: exchange(removeRecoveryEmail),
  }
}

const recoveryPath = `${credentialsPath}/me/recovery-email`

/** A person's request about their own account. */
interface Own {
  readonly request: Request
  readonly viewer: Viewer
  readonly work: OwnWork
  readonly userId: string
  readonly account: Account
}

async function changePassword(ground: AccountGround, { request, viewer, work, userId, account }: Own): Promise<Response> {
  const fields = await readFields(request)
  const newPassword = readNewPassword(fields.newPassword, 'newPassword', account.email)
  await checkPassword(ground, request, account, fields.currentPassword)
  const password = await ground.hashing.hash(newPassword, 'known')
  await inTransaction(work, async unit => {
    // The password may have changed since it was checked.
    const now = await work.accounts.lock(userId, unit.transaction)
    if (now?.password !== account.password) throw wrongPassword()
    await setPassword(work, userId, password, unit)
    await record(work, done(userId, 'password.changed'), unit)
    await endSessions(work, { userId, except: viewer.sessionId }, unit)
    await work.mails.send({ kind: 'notice', to: account.email, data: { name: account.name, what: 'password-changed' } }, unit)
  })
  return answerOf(200, {})
}

async function changeEmail(ground: AccountGround, { request, viewer, work, userId, account }: Own): Promise<Response> {
  const fields = await readFields(request)
  const email = readEmail(fields.newEmail, 'newEmail')
  await checkPassword(ground, request, account, fields.currentPassword)
  await count(ground, userId)
  await inTransaction(work, async unit =>
    ground.wake(await work.accountRequests.add({ kind: 'email-change', email, details: { userId, askedBy: viewer.sessionId } }, unit), unit.transaction),
  )
  return answerOf(202, {})
}

const showRecoveryEmail = async (_: AccountGround, { work, userId }: Own): Promise<Response> =>
  answerOf(200, shownOf(await work.recoveryEmails.ofPerson(userId)))

async function setRecoveryEmail(ground: AccountGround, own: Own): Promise<Response> {
  const { request, work, userId, account } = own
  const fields = await readFields(request)
  const email = readEmail(fields.email, 'email')
  if (email === account.email)
    throw new DomainError('BAD_USER_INPUT', 'email is the address of the account itself, which helps nobody who lost it: name another.', { field: 'email' })
  await reauthenticate(ground, own, fields.currentPassword)
  await count(ground, userId)
  const recovery = await inTransaction(work, async unit => {
    await work.accounts.lock(userId, unit.transaction)
    const asked = await work.recoveryEmails.ask(userId, email, unit)
    await record(work, done(userId, 'recovery_email.set'), unit)
    if (asked.pendingEmail === null) await work.codes.end(userId, ['verify-recovery-email'], unit.transaction)
    else {
      const code = () => work.codes.issue('verify-recovery-email', userId, { ...unit, details: { email } })
      await work.mails.send({ kind: 'verify-recovery-email', to: email, code, data: { name: account.name, account: account.email } }, unit)
    }
    return asked
  })
  return answerOf(200, shownOf(recovery))
}

async function removeRecoveryEmail(ground: AccountGround, own: Own): Promise<Response> {
  const { request, work, userId, account } = own
  const body = await readBody(request)
  await reauthenticate(ground, own, body && fieldsOf(request.headers.get('content-type') ?? '', body).currentPassword)
  await inTransaction(work, async unit => {
    await work.accounts.lock(userId, unit.transaction)
    const gone = await work.recoveryEmails.remove(userId, unit.transaction)
    if (!gone) return
    await work.codes.end(userId, ['verify-recovery-email', 'reset-password'], unit.transaction)
    await record(work, done(userId, 'recovery_email.removed'), unit)
    if (gone.email !== null) await work.mails.send({ kind: 'notice', to: account.email, data: { name: account.name, what: 'recovery-removed' } }, unit)
  })
  return answerOf(204)
}

/** Requires the password for changes to the account's protection, unless it was given a moment ago. */
async function reauthenticate(ground: AccountGround, { request, viewer, work, userId, account }: Own, currentPassword: unknown): Promise<void> {
  if (currentPassword !== undefined && currentPassword !== null) return checkPassword(ground, request, account, currentPassword)
  if (await work.accounts.isRecent(viewer.sessionId, userId, new Date(ground.clock.now().getTime() - freshMs))) return
  throw new DomainError('FORBIDDEN', 'You signed in a while ago, or by another way: send your password as currentPassword.', {
    reason: 'REAUTHENTICATE',
    field: 'currentPassword',
  })
}

/**
 * Checks a person's password, with the counters of sign-in, so that a stolen session allows no more guesses.
 * @throws BAD_USER_INPUT, FORBIDDEN for a wrong one, RATE_LIMITED
 */
async function checkPassword({ attempts, hashing, clientAddressHeader }: AccountGround, request: Request, account: Account, given: unknown): Promise<void> {
  const password = readPassword(given, 'currentPassword')
  const who = { email: account.email, address: request.headers.get(clientAddressHeader) ?? 'unknown' }
  const tried = await attempts.run(who, async () => {
    const isRight = account.password !== null && (await hashing.verify(account.password, password))
    return { answer: isRight, outcome: isRight ? { userId: account.userId } : ('wrong' as const) }
  })
  if (!('answer' in tried)) throw tooManyAttempts(tried.wait)
  if (!tried.answer) throw wrongPassword()
}

const wrongPassword = () => new DomainError('FORBIDDEN', 'currentPassword is not the password of the account.', { field: 'currentPassword' })

/** Counts a mail to an address of the person's choice. @throws RATE_LIMITED above the limit */
async function count({ countAddress }: AccountGround, userId: string): Promise<void> {
  const wait = await countAddress(userId)
  if (wait > 0) throw new DomainError('RATE_LIMITED', 'You have named many addresses within an hour: go on in a while.', { retryAfter: Math.ceil(wait / 1000) })
}
