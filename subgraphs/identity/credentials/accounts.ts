import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'

/**
 * Gives people a password, hashed once as the credential library hashes them (scrypt), so that any number costs one hash. To be
 * used for set-up only: equal hashes show equal passwords.
 */
export async function insertAccounts(sequelize: Sequelize, userIds: readonly string[], password: string, now: Date, transaction: Transaction): Promise<void> {
  const { hashPassword } = await import('better-auth/crypto')
  await sequelize.query(
    `insert into identity.accounts (id, account_id, provider_id, user_id, password, created_at, updated_at)
     select a.id, a.user_id, 'credential', a.user_id, $3, $4, $4 from unnest($1::text[], $2::text[]) as a (id, user_id)`,
    { type: QueryTypes.INSERT, bind: [userIds.map(() => newId(now)), userIds, await hashPassword(password), now], transaction },
  )
}
