import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../../../platform/clock.ts'
import type { JobQueue, Sweep } from '../../../../platform/jobs/queue.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Account } from '../../stores/account/account.ts'
import type { AccountRequest } from '../../stores/account/request.ts'
import { done, type Work } from './ground.ts'
import { greeted } from './rules.ts'

/** Queue of wake-ups for requests by address. */
export const requestQueueName = 'account-request'

const concurrency = 16
/**
 * Time in ms that a request waits before it is processed: the caller has the answer by then, so its timing reveals
 * nothing.
 */
const restMs = 100
/**
 * Interval in ms of the search for requests without a wake-up, the time for which a request is left to its own, and
 * maximum requests in one round.
 */
const sweeping = { everyMs: 15_000, graceMs: 3_000, atOnce: 20 }

/**
 * Creates the queue: everything that depends on whether an address has an account happens here, where no caller waits.
 */
export const requestQueue = (work: () => Work): JobQueue => ({
  name: requestQueueName,
  concurrency,
  async handle({ requestId }) {
    await setTimeout(restMs)
    await seeTo(work(), requestId!)
  },
})

/** Finds requests whose wake-up was lost. Any number of processes may run it at the same time. */
export const requestSweep = (work: () => Work, clock: Clock): Sweep => ({
  name: 'account requests',
  everyMs: sweeping.everyMs,
  async run() {
    const found = await work().accountRequests.overdue(new Date(clock.now().getTime() - sweeping.graceMs), sweeping.atOnce)
    await Promise.all(found.map(id => seeTo(work(), id)))
  },
})

/** Processes a request and deletes it, in one transaction: exactly once, however often it is called. */
const seeTo = (work: Work, requestId: string): Promise<void> =>
  inTransaction(work, async unit => {
    const request = await work.accountRequests.take(requestId, unit.transaction)
    if (request) await handlers[request.kind](work, request as never, unit)
  })

type Of<Kind extends AccountRequest['kind']> = Extract<AccountRequest, { kind: Kind }>

const handlers: { readonly [Kind in AccountRequest['kind']]: (work: Work, request: Of<Kind>, unit: WriteTransaction) => Promise<void> } = {
  async 'sign-up'(work, { email, details: { name, password } }, unit) {
    const userId = await work.accounts.add({ name, email, password }, unit)
    if (userId) {
      await record(work, done(userId, 'account.created'), unit)
      return mailVerification(work, { userId, name, email }, unit)
    }
    const account = await work.accounts.byEmail(email, unit.transaction)
    if (account) await work.mails.send({ kind: 'already-registered', to: email, data: { name: greeted(account.name, email) } }, unit)
  },

  async verification(work, { email }, unit) {
    const account = await work.accounts.byEmail(email, unit.transaction)
    if (account && !account.emailVerified && !account.suspended) await mailVerification(work, account, unit)
  },

  async 'password-reset'(work, { email }, unit) {
    for (const account of await work.accounts.byAnyEmail(email, unit.transaction)) if (!account.suspended) await mailReset(work, account, email, unit)
  },

  async 'email-change'(work, { email, details: { userId, askedBy } }, unit) {
    if (await work.accounts.byEmail(email, unit.transaction)) return
    // Locks the account, as setting a new password does: that ends the code, or the session that requested it.
    const account = await work.accounts.lock(userId, unit.transaction)
    if (!account || account.suspended) return
    if (askedBy !== null && !(await work.accounts.hasSession(askedBy, userId, unit))) return
    const code = () => work.codes.issue('confirm-email', userId, { ...unit, details: { email } })
    await work.mails.send({ kind: 'confirm-email', to: email, code, data: { name: greeted(account.name, email), account: account.email } }, unit)
  },
}

async function mailVerification(work: Work, { userId, name, email }: Pick<Account, 'userId' | 'name' | 'email'>, unit: WriteTransaction): Promise<void> {
  const code = () => work.codes.issue('verify-email', userId, { ...unit, details: { email } })
  await work.mails.send({ kind: 'verify-email', to: email, code, data: { name: greeted(name, email) } }, unit)
}

async function mailReset(work: Work, { userId, name, email }: Account, to: string, unit: WriteTransaction): Promise<void> {
  const code = () => work.codes.issue('reset-password', userId, { ...unit, details: { email: to } })
  const sent = await work.mails.send({ kind: 'reset-password', to, code, data: { name: greeted(name, to), account: email } }, unit)
  // The requester is unknown; the address names the account.
  if (sent) await record(work, { ...done(userId, 'password.reset_requested', { to: to === email ? 'address' : 'recovery address' }), actor: 'platform' }, unit)
}
