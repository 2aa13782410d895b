import type { Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import { statement } from '../../../platform/sql/statement.ts'
import type { Job } from '../context.ts'

// To the credential library a person's own account is called by the person's id, which is text to it as any provider's name for somebody is.
const insertAll = statement(
  `insert into identity.accounts (id, account_id, provider_id, user_id, password, created_at, updated_at)
   select a.id, a.user_id::text, 'credential', a.user_id, $3, $4, $4 from unnest($1::uuid[], $2::uuid[]) as a (id, user_id)`,
)

/**
 * Gives people a password, hashed once as the credential library hashes them (scrypt), so that any number costs one hash. To be
 * used for set-up only: equal hashes show equal passwords.
 */
export async function insertAccounts(
  { users }: Pick<Job, 'users'>,
  userIds: readonly string[],
  password: string,
  now: Date,
  transaction: Transaction,
): Promise<void> {
  const { hashPassword } = await import('better-auth/crypto')
  await users.read(insertAll, [userIds.map(() => newId(now)), userIds, await hashPassword(password), now], transaction)
}
