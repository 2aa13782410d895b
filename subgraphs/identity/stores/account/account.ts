import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { StoreContext } from '../../../store/store.ts'

/** A person's account, as rules see it. A service account has none. */
export interface Account {
  readonly userId: string
  readonly name: string
  readonly email: string
  readonly emailVerified: boolean
  readonly suspended: boolean
  /** Hash by the credential library (scrypt); null: the account has no password. */
  readonly password: string | null
  /** The verified recovery address. */
  readonly recoveryEmail: string | null
}

const account = `
  select u.id as "userId", u.name, u.email, u.email_verified as "emailVerified", u.suspended_at is not null as suspended, a.password,
         r.email as "recoveryEmail"
    from identity.users u
    left join identity.accounts a on a.user_id = u.id and a.provider_id = 'credential'
    left join identity.recovery_emails r on r.user_id = u.id
   where u.kind = 'human' and u.email is not null and`

const byId = statement(`${account} u.id = $1`)
const lock = statement(`${account} u.id = $1 for update of u`)
const byEmail = statement(`${account} u.email = $1`)
const byAnyEmail = statement(`${account} (u.email = $1 or u.id in (select user_id from identity.recovery_emails where email = $1)) order by u.id limit $2`)
const insertPerson = statement(
  `insert into identity.users (id, name, email, email_verified, created_at, updated_at) values ($1, $2, $3, false, $4, $4) on conflict (email) do nothing returning id`,
)
const changePassword = statement(`update identity.accounts set password = $2, updated_at = $3 where user_id = $1 and provider_id = 'credential' returning id`)
// The credential library identifies a password account by the person's id, as it does other providers' accounts by theirs.
const insertPasswords = statement(
  `insert into identity.accounts (id, account_id, provider_id, user_id, password, created_at, updated_at)
   select a.id, a.user_id::text, 'credential', a.user_id, $3, $4, $4 from unnest($1::uuid[], $2::uuid[]) as a (id, user_id)`,
)
const verifyEmail = statement('update identity.users set email_verified = true, updated_at = $2 where id = $1')
const changeEmail = statement(
  `update identity.users set email = $2, email_verified = true, updated_at = $3
    where id = $1 and not exists (select from identity.users other where other.email = $2) returning id`,
)
const signedInByPassword = statement(
  `select exists (select from identity.sessions where id = $1 and user_id = $2 and kind = 'password' and created_at > $3) as "isRecent"`,
)

const standingSession = statement('select from identity.sessions where id = $1 and user_id = $2 and expires_at > $3')

/** Maximum number of accounts whose password one address may reset: those with it as recovery address. */
const mostOfAddress = 20

/** Accounts of people, in the credential library's tables. */
export const accountStore = {
  open({ sequelize }: StoreContext) {
    const read = <Row>(wanted: Statement, values: readonly unknown[], transaction?: Transaction) => rows<Row>(sequelize, wanted, values, transaction)
    const givePassword = async (userIds: readonly string[], password: string, { transaction, now }: WriteTransaction): Promise<void> => {
      await read(insertPasswords, [userIds.map(() => newId(now)), userIds, password, now], transaction)
    }
    return {
      async byId(userId: string, transaction?: Transaction): Promise<Account | null> {
        return (await read<Account>(byId, [userId], transaction))[0] ?? null
      },

      /**
       * Returns the account, locked until the transaction ends. The lock also prevents new sessions of the person,
       * whose rows refer to it, so that nobody signs in with a former password meanwhile.
       */
      async lock(userId: string, transaction: Transaction): Promise<Account | null> {
        return (await read<Account>(lock, [userId], transaction))[0] ?? null
      },

      /** @param email in stored form */
      async byEmail(email: string, transaction?: Transaction): Promise<Account | null> {
        return (await read<Account>(byEmail, [email], transaction))[0] ?? null
      },

      /** Returns the accounts with this address or verified recovery address. @param email in stored form */
      byAnyEmail: (email: string, transaction: Transaction): Promise<readonly Account[]> => read<Account>(byAnyEmail, [email, mostOfAddress], transaction),

      /**
       * Creates an account with an unverified address. @returns the person's id; null when the address has an account
       */
      async add(
        { name, email, password }: { readonly name: string; readonly email: string; readonly password: string },
        unit: WriteTransaction,
      ): Promise<string | null> {
        const { transaction, now } = unit
        const [made] = await read<{ id: string }>(insertPerson, [newId(now), name, email, now], transaction)
        if (!made) return null
        await givePassword([made.id], password, unit)
        return made.id
      },

      /**
       * Sets one password hash for people without a password: for several at set-up only, because equal hashes reveal
       * equal passwords.
       */
      givePassword,

      /** Sets the hash of the password. Lock the account first. */
      async setPassword(userId: string, password: string, unit: WriteTransaction): Promise<void> {
        const changed = await read(changePassword, [userId, password, unit.now], unit.transaction)
        if (changed.length === 0) await givePassword([userId], password, unit)
      },

      /** Writes that the person reads mail at the account's address. */
      verify: async (userId: string, { transaction, now }: WriteTransaction): Promise<void> => void (await read(verifyEmail, [userId, now], transaction)),

      /** Changes the address to a verified one; false when it has an account. */
      async setEmail(userId: string, email: string, { transaction, now }: WriteTransaction): Promise<boolean> {
        return (await read(changeEmail, [userId, email, now], transaction)).length > 0
      },

      /** Whether a session of the person is valid. */
      async hasSession(sessionId: string, userId: string, { transaction, now }: WriteTransaction): Promise<boolean> {
        return (await read(standingSession, [sessionId, userId, now], transaction)).length > 0
      },

      /** Whether a session began by password after a moment. */
      async isRecent(sessionId: string | null, userId: string, after: Date): Promise<boolean> {
        const [found] = await read<{ isRecent: boolean }>(signedInByPassword, [sessionId, userId, after])
        return found!.isRecent
      },
    }
  },
}
