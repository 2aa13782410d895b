import { randomBytes } from 'node:crypto'
import { QueryTypes, type Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import type { Tables } from '../tables.ts'
import { provisionWithin, type World } from './provision.ts'
import { hashCode, setupLinkMs } from './rules.ts'

/** Whoever signs in is remembered with the address: as long as there is none, nobody has. */
const nobodySignedIn = 'not exists (select from identity.sign_in_addresses)'

/** The one set-up link, kept by its hash among the one-time values of the credential library, and beside it whom its form has made. */
export function createSetupStore(tables: Tables) {
  const { sequelize } = tables
  const rows = async <Row extends object = { id: string }>(sql: string, bind: unknown[], transaction: Transaction | null = null) =>
    sequelize.query<Row>(sql, { type: QueryTypes.SELECT, bind, transaction })
  return {
    /** Replaces the link by a new one and returns its code; null once somebody has signed in. */
    async open(now: Date): Promise<string | null> {
      const code = randomBytes(32).toString('base64url')
      const opened = await rows(
        `with former as (delete from identity.verifications where identifier = 'setup')
         insert into identity.verifications (id, identifier, value, expires_at, created_at, updated_at)
         select $1, 'setup', $2, $3, $4, $4 where ${nobodySignedIn} returning id`,
        [newId(now), hashCode(code), new Date(now.getTime() + setupLinkMs), now],
      )
      return opened.length > 0 ? code : null
    },

    /** Whether the code is that of the link, and still good. */
    stands: async (code: string, now: Date): Promise<boolean> => (await rows(standing, [hashCode(code), now])).length > 0,

    /**
     * Makes the world of the form in place of the one that the form made before, while nobody has signed in. Forms that come at once are taken
     * one after another.
     * @returns false when the link is not good any more, and nothing has changed
     */
    redeem(code: string, world: World, now: Date): Promise<boolean> {
      return sequelize.transaction(async transaction => {
        const [link] = await rows(`${standing} for update`, [hashCode(code), now], transaction)
        if (!link) return false
        const former = await rows<{ value: string }>(`delete from identity.verifications where identifier = 'setup person' returning value`, [], transaction)
        for (const { value } of former) await remove(value, transaction)
        const { users } = await provisionWithin(tables, world, now, transaction)
        await rows(
          `insert into identity.verifications (id, identifier, value, expires_at, created_at, updated_at) values ($1, 'setup person', $2, $3, $4, $4)`,
          [newId(now), users[world.people[0]!.email], new Date(now.getTime() + setupLinkMs), now],
          transaction,
        )
        return true
      })
    },
  }

  /** Takes back a person whom the form made, with the organizations that nobody else is in: nobody has worked in them. */
  async function remove(userId: string, transaction: Transaction): Promise<void> {
    const left = await rows<{ organization_id: string }>('delete from identity.memberships where user_id = $1 returning organization_id', [userId], transaction)
    await rows(
      `delete from identity.organizations o where id = any($1::text[]) and not exists (select from identity.memberships m where m.organization_id = o.id)`,
      [left.map(({ organization_id }) => organization_id)],
      transaction,
    )
    await rows('delete from identity.users where id = $1', [userId], transaction)
  }
}

const standing = `select id from identity.verifications where identifier = 'setup' and value = $1 and expires_at > $2 and ${nobodySignedIn}`
