import { randomBytes } from 'node:crypto'
import { QueryTypes } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import type { Tables } from '../tables.ts'
import { hashCode, setupLinkMs } from './rules.ts'

/** The one set-up link, kept by its hash among the one-time values of the credential library. */
export function createSetupStore({ sequelize }: Pick<Tables, 'sequelize'>) {
  const rows = async (sql: string, bind: unknown[]) => (await sequelize.query<{ id: string }>(sql, { type: QueryTypes.SELECT, bind })).length > 0
  return {
    /** Replaces the link by a new one and returns its code; null when somebody has an account already. */
    async open(now: Date): Promise<string | null> {
      const code = randomBytes(32).toString('base64url')
      const opened = await rows(
        `with former as (delete from identity.verifications where identifier = 'setup')
         insert into identity.verifications (id, identifier, value, expires_at, created_at, updated_at)
         select $1, 'setup', $2, $3, $4, $4 where not exists (select from identity.users) returning id`,
        [newId(now), hashCode(code), new Date(now.getTime() + setupLinkMs), now],
      )
      return opened ? code : null
    },

    /** Whether the code is that of the link, and still good. */
    stands: (code: string, now: Date) =>
      rows(
        `select id from identity.verifications
         where identifier = 'setup' and value = $1 and expires_at > $2 and not exists (select from identity.users)`,
        [hashCode(code), now],
      ),

    /** Uses the link up: true for one caller only. */
    redeem: (code: string, now: Date) =>
      rows(
        `delete from identity.verifications
         where identifier = 'setup' and value = $1 and expires_at > $2 and not exists (select from identity.users) returning id`,
        [hashCode(code), now],
      ),
  }
}
