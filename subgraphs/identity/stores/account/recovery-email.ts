import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { StoreContext } from '../../../store/store.ts'

/** A person's recovery address: the verified one, the pending one, or both. */
export interface Recovery {
  readonly email: string | null
  readonly verifiedAt: Date | null
  readonly pendingEmail: string | null
}

/** A person's view of the recovery address. */
export interface ShownRecovery {
  /** The verified address; before the first one is verified, the pending one. */
  readonly email: string | null
  /** Status of `email`. */
  readonly status: 'none' | 'pending' | 'verified'
  readonly verifiedAt: Date | null
  /** The address that waits to be verified. */
  readonly pendingEmail: string | null
}

/** Shows a verified address for as long as it is in use, whatever replaces it later. */
export const shownOf = (recovery: Recovery | null): ShownRecovery => ({
  email: recovery?.email ?? recovery?.pendingEmail ?? null,
  status: recovery === null ? 'none' : recovery.email === null ? 'pending' : 'verified',
  verifiedAt: recovery?.verifiedAt ?? null,
  pendingEmail: recovery?.pendingEmail ?? null,
})

/** The account of a person, of which a service asks. */
export interface AccountRecordRow {
  readonly userId: string
  /** The session that the profile describes; null for none. */
  readonly sessionId: string | null
}

const columns = 'email, verified_at as "verifiedAt", pending_email as "pendingEmail"'
const find = statement(`select ${columns} from identity.recovery_emails where user_id = $1`)
const isRecoverable = statement(
  `select exists (select from identity.recovery_emails where user_id = $1 and verified_at is not null)
     or exists (select from identity.foreign_people where user_id = $1) as recoverable`,
)
const ask = statement(
  `insert into identity.recovery_emails as r (user_id, pending_email, updated_at) values ($1, $2, $3)
   on conflict (user_id) do update set pending_email = nullif(excluded.pending_email, r.email), updated_at = excluded.updated_at returning ${columns}`,
)
const verify = statement(
  `update identity.recovery_emails set email = pending_email, verified_at = $3, pending_email = null, updated_at = $3
    where user_id = $1 and pending_email = $2 returning user_id`,
)
const forgetPending = statement(
  `with gone as (delete from identity.recovery_emails where user_id = $1 and email is null)
   update identity.recovery_emails set pending_email = null where user_id = $1 and email is not null`,
)
const remove = statement(`delete from identity.recovery_emails where user_id = $1 returning ${columns}`)
const removeSame = statement(
  `with gone as (delete from identity.recovery_emails where user_id = $1 and (email = $2 or email is null and pending_email = $2))
   update identity.recovery_emails set pending_email = null where user_id = $1 and pending_email = $2 and email <> $2`,
)

/** Recovery addresses. Writers lock the account first (`accounts.lock`). */
export const recoveryEmailStore = {
  open: ({ sequelize }: StoreContext) => ({
    async ofPerson(userId: string, transaction?: Transaction): Promise<Recovery | null> {
      return (await rows<Recovery>(sequelize, find, [userId], transaction))[0] ?? null
    },

    /** Whether a person can get back to a lost account: by a verified address, or where another issuer keeps the account. */
    async isRecoverable(userId: string): Promise<boolean> {
      return (await rows<{ recoverable: boolean }>(sequelize, isRecoverable, [userId]))[0]!.recoverable
    },

    /** Stores a pending address; the verified one stays, and nothing is pending when both are the same. */
    async ask(userId: string, email: string, { transaction, now }: WriteTransaction): Promise<Recovery> {
      return (await rows<Recovery>(sequelize, ask, [userId, email, now], transaction))[0]!
    },

    /** Replaces the verified address by the pending one; false when that has changed, or is missing. */
    async verify(userId: string, email: string, { transaction, now }: WriteTransaction): Promise<boolean> {
      return (await rows(sequelize, verify, [userId, email, now], transaction)).length > 0
    },

    /** Removes a pending address; the verified one stays. */
    forgetPending: async (userId: string, transaction: Transaction): Promise<void> => void (await rows(sequelize, forgetPending, [userId], transaction)),

    /** Removes both addresses. @returns the removed ones */
    async remove(userId: string, transaction: Transaction): Promise<Recovery | null> {
      return (await rows<Recovery>(sequelize, remove, [userId], transaction))[0] ?? null
    },

    /** Removes a recovery address that has become the account's own address. */
    removeSame: async (userId: string, email: string, transaction: Transaction): Promise<void> =>
      void (await rows(sequelize, removeSame, [userId, email], transaction)),
  }),
}
