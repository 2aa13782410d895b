import { DomainError } from '../../../../platform/errors.ts'
import { readFields } from '../../../http/body.ts'
import type { Handler, Handlers } from '../../../http/handlers.ts'
import { record } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import { publicHandler } from '../../http/public.ts'
import { readName } from '../../organization/rules.ts'
import { endSessions } from '../../session/opening.ts'
import type { AccountRequest } from '../../stores/account/request.ts'
import { codeRefusal } from '../../stores/code.ts'
import { credentialsPath } from '../names.ts'
import { readNewPassword } from '../password.ts'
import { type AccountGround, answerOf, done, setPassword } from './ground.ts'
import { isAddressOf, readEmail } from './rules.ts'

/** Reads the fields that a row takes. */
type Fields = Readonly<Record<string, unknown>>
type Row = (ground: AccountGround, fields: Fields) => Promise<Response>

/**
 * Handlers for anonymous callers. Routes that take an address answer the same, by the same statements, whether the
 * address has an account: a job does what differs (`requests.ts`).
 */
export const publicAccountHandlers = (ground: AccountGround): Handlers => {
  const exchange = (row: Row): Handler => publicHandler(ground, async request => row(ground, await readFields(request)))
  return {
    [`POST ${credentialsPath}/sign-up/email`]: exchange(signUp),
    [`POST ${credentialsPath}/verify-email`]: exchange(verifyEmail),
    [`POST ${credentialsPath}/send-verification-email`]: exchange(sendVerification),
    [`POST ${credentialsPath}/request-password-reset`]: exchange(requestReset),
    [`POST ${credentialsPath}/reset-password`]: exchange(resetPassword),
    [`POST ${credentialsPath}/verify-recovery-email`]: exchange(verifyRecoveryEmail),
  }
}

/** The uniform answer to all requests by address. */
async function accepted({ contexts, wake }: Pick<AccountGround, 'contexts' | 'wake'>, request: AccountRequest): Promise<Response> {
  const work = contexts.systemContext('platform')
  await inTransaction(work, async unit => wake(await work.accountRequests.add(request, unit), unit.transaction))
  return answerOf(202, {})
}

async function signUp(ground: AccountGround, fields: Fields): Promise<Response> {
  if (ground.signUp === 'invited')
    throw new DomainError('FORBIDDEN', 'Accounts are created by invitation here: ask a member of your organization for one.', { reason: 'SIGN_UP' })
  const email = readEmail(fields.email, 'email')
  const password = readNewPassword(fields.password, 'password', email)
  const name = readName(typeof fields.name === 'string' ? fields.name : '', 'name')
  return accepted(ground, { kind: 'sign-up', email, details: { name, password: await ground.hashing.hash(password, 'strangers') } })
}

const sendVerification: Row = (ground, fields) => accepted(ground, { kind: 'verification', email: readEmail(fields.email, 'email'), details: {} })

const requestReset: Row = (ground, fields) => accepted(ground, { kind: 'password-reset', email: readEmail(fields.email, 'email'), details: {} })

const verifying = ['verify-email', 'confirm-email'] as const

/** Handles the code of a new account and that of a changed address. */
async function verifyEmail({ contexts, clock }: AccountGround, { code: clear }: Fields): Promise<Response> {
  const work = contexts.systemContext('platform')
  const { accounts, codes, recoveryEmails } = work
  const { subject: userId } = await codes.find(verifying, clear, clock.now())
  const email = await inTransaction(work, async unit => {
    const account = await accounts.lock(userId, unit.transaction)
    const code = await codes.hold(verifying, clear, unit)
    const address = String(code.details.email)
    if (!account) throw codeRefusal()
    if (code.purpose === 'verify-email') {
      if (address !== account.email) throw codeRefusal()
      await accounts.verify(userId, unit)
      await codes.end(userId, ['verify-email'], unit.transaction)
      await record(work, done(userId, 'email.verified'), unit)
      return address
    }
    if (!(await accounts.setEmail(userId, address, unit))) throw codeRefusal()
    await recoveryEmails.removeSame(userId, address, unit.transaction)
    // Reading mail at the former address no longer gives access.
    await codes.end(userId, ['confirm-email', 'verify-email', 'reset-password'], unit.transaction)
    await record(work, done(userId, 'email.changed'), unit)
    await work.mails.send({ kind: 'notice', to: account.email, data: { name: account.name, what: 'email-changed' } }, unit)
    return address
  }).catch(takenMeanwhile)
  return answerOf(200, { email })
}

/** Handles two concurrent requests for one address: the later one finds it taken only when writing. */
function takenMeanwhile(error: unknown): never {
  const { code } = ((error as { parent?: { code?: string } } | null)?.parent ?? {}) as { code?: string }
  throw code === '23505' ? codeRefusal() : error
}

async function resetPassword({ contexts, clock, hashing }: AccountGround, { code: clear, newPassword }: Fields): Promise<Response> {
  const work = contexts.systemContext('platform')
  const { accounts, codes, mails } = work
  // An invalid new address, or the account's own one, is refused without using up the code.
  readNewPassword(newPassword, 'newPassword')
  const find = () => codes.find('reset-password', clear, clock.now())
  const { subject: userId } = await find()
  const owner = await accounts.byId(userId)
  const password = await hashing.hash(readNewPassword(newPassword, 'newPassword', owner?.email), 'known', find)
  await inTransaction(work, async unit => {
    const account = await accounts.lock(userId, unit.transaction)
    const code = await codes.hold('reset-password', clear, unit)
    if (!account || !isAddressOf(account, code.details.email)) throw codeRefusal()
    await setPassword(work, userId, password, unit)
    // Having this code proves access to mail at that address.
    const verifies = !account.emailVerified && code.details.email === account.email
    if (verifies) await accounts.verify(userId, unit)
    if (verifies) await codes.end(userId, ['verify-email'], unit.transaction)
    await record(work, done(userId, 'password.reset'), unit)
    if (verifies) await record(work, done(userId, 'email.verified'), unit)
    await endSessions(work, { userId }, unit)
    await mails.send({ kind: 'notice', to: account.email, data: { name: account.name, what: 'password-reset' } }, unit)
  })
  return answerOf(200, {})
}

async function verifyRecoveryEmail({ contexts, clock }: AccountGround, { code: clear }: Fields): Promise<Response> {
  const work = contexts.systemContext('platform')
  const { accounts, codes, recoveryEmails, mails } = work
  const { subject: userId } = await codes.find('verify-recovery-email', clear, clock.now())
  const email = await inTransaction(work, async unit => {
    const account = await accounts.lock(userId, unit.transaction)
    const code = await codes.hold('verify-recovery-email', clear, unit)
    const address = String(code.details.email)
    if (!account || !(await recoveryEmails.verify(userId, address, unit))) throw codeRefusal()
    // Includes codes sent to the former recovery address.
    await codes.end(userId, ['verify-recovery-email', 'reset-password'], unit.transaction)
    await record(work, done(userId, 'recovery_email.verified'), unit)
    await mails.send({ kind: 'notice', to: account.email, data: { name: account.name, what: 'recovery-verified' } }, unit)
    return address
  })
  return answerOf(200, { email })
}
