import type { Sequelize, Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import type { MailKind } from './kinds.ts'

/** A mail reserved for one attempt. */
export interface MailRow {
  readonly id: string
  readonly kind: MailKind
  readonly recipient: string
  readonly data: unknown
  /** Encrypted. */
  readonly code: string | null
  readonly codeEndsAt: Date | null
  readonly messageId: string
  readonly failures: number
  readonly claim: string
  readonly createdAt: Date
  /** Whether its code, if any, is still valid. */
  readonly stands: boolean
}

/** Final result of a mail. */
export type MailOutcome = 'sent' | 'given_up' | 'outdated'

// Concurrent mails to one address are serialized, so that all of them count.
const lockAddress = transactionLock('identity.mails', 2)
const countTo = statement('select count(*)::int as n from identity.mails where recipient = $1 and kind = $2 and created_at > $3')
const insert = statement(
  `insert into identity.mails (id, kind, recipient, data, code, code_hash, code_ends_at, message_id, due_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
)
// If two arrive at once, the second finds the key taken.
const take = statement(
  `update identity.mails m set due_at = $3, claim = $4 where id = $1 and due_at <= $2
   returning id, kind, recipient, data, code, code_ends_at as "codeEndsAt", message_id as "messageId", failures, claim, created_at as "createdAt",
     code_hash is null or exists (select from identity.codes c where c.hash = m.code_hash and c.expires_at > $2) as stands`,
)
const dueOf = statement('select due_at as "dueAt" from identity.mails where id = $1')
const putOff = statement('update identity.mails set failures = failures + $4::int, due_at = $3, claim = null where id = $1 and claim = $2')
// An accepted mail is always recorded, also after the attempt had been given up.
const endSent = statement(
  `update identity.mails set outcome = 'sent', due_at = null, claim = null, code = null, ended_at = $2 where id = $1 and outcome is distinct from 'sent'`,
)
const endOther = statement('update identity.mails set outcome = $3, due_at = null, claim = null, code = null, ended_at = $4 where id = $1 and claim = $2')
const overdue = statement('select id from identity.mails where due_at <= $1 order by due_at limit $2')
const waiting = statement('select count(*)::int as mails, min(created_at) as oldest from identity.mails where due_at is not null')

/** Mails, each until some days after it was sent. */
export const mailStore = (sequelize: Sequelize) => ({
  /** Counts the mails of a kind to an address since a moment. Nobody writes another one before the transaction ends. */
  async countTo(recipient: string, kind: MailKind, since: Date, transaction: Transaction): Promise<number> {
    await rows(sequelize, lockAddress, [recipient, kind], transaction)
    const [found] = await rows<{ n: number }>(sequelize, countTo, [recipient, kind, since], transaction)
    return found!.n
  },

  async add(
    mail: Pick<MailRow, 'id' | 'kind' | 'recipient' | 'data' | 'code' | 'codeEndsAt' | 'messageId' | 'createdAt'> & { readonly codeHash: string | null },
    transaction: Transaction,
  ): Promise<void> {
    const { id, kind, recipient, data, code, codeHash, codeEndsAt, messageId, createdAt } = mail
    await rows(sequelize, insert, [id, kind, recipient, JSON.stringify(data), code, codeHash, codeEndsAt, messageId, createdAt], transaction)
  },

  /** Reserves a due mail for one attempt. @returns null when it is not due, or reserved */
  async take(id: string, { now, until, claim }: { readonly now: Date; readonly until: Date; readonly claim: string }): Promise<MailRow | null> {
    const [taken] = await rows<MailRow>(sequelize, take, [id, now, until, claim])
    return taken ?? null
  },

  /** Returns when a mail is due; null for never, or a deleted one. */
  async dueAt(id: string): Promise<Date | null> {
    const [found] = await rows<{ dueAt: Date | null }>(sequelize, dueOf, [id])
    return found?.dueAt ?? null
  },

  /** Postpones a mail, if this attempt still has it. @param counts whether the attempt failed, or never began */
  putOff: async ({ id, claim }: MailRow, dueAt: Date, { counts }: { readonly counts: boolean }): Promise<void> =>
    void (await rows(sequelize, putOff, [id, claim, dueAt, counts ? 1 : 0])),

  /** Ends a mail and deletes its code: a sent one in any case, others only if this attempt still has it. */
  async end({ id, claim }: MailRow, outcome: MailOutcome, now: Date): Promise<void> {
    if (outcome === 'sent') await rows(sequelize, endSent, [id, now])
    else await rows(sequelize, endOther, [id, claim, outcome, now])
  },

  /** Returns mails that were due before a moment: a wake-up may be lost, the mail is not. */
  overdue: async (before: Date, most: number): Promise<readonly string[]> =>
    (await rows<{ id: string }>(sequelize, overdue, [before, most])).map(({ id }) => id),

  /** Returns the number of waiting mails, and since when the first waits. */
  async waiting(): Promise<{ readonly mails: number; readonly oldest: Date | null }> {
    const [found] = await rows<{ mails: number; oldest: Date | null }>(sequelize, waiting, [])
    return found!
  },
})

export type MailStore = ReturnType<typeof mailStore>
