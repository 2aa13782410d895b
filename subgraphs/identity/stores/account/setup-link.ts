import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import type { Opening } from '../../../store/store.ts'

/** How long a set-up link is good, in ms; a later start replaces it sooner. */
export const setupLinkMs = 24 * 3600_000

/** Whoever signs in is remembered with the address, or with what another issuer calls them: as long as there is none, nobody has. */
const nobodySignedIn = 'not exists (select from identity.sign_in_addresses) and not exists (select from identity.foreign_people)'
const goodLink = `select id from identity.verifications where identifier = 'setup' and value = $1 and expires_at > $2 and ${nobodySignedIn}`

const find = statement(goodLink)
const lock = statement(`${goodLink} for update`)
const replace = statement(
  `with former as (delete from identity.verifications where identifier = 'setup')
   insert into identity.verifications (id, identifier, value, expires_at, created_at, updated_at)
   select $1, 'setup', $2, $3, $4, $4 where ${nobodySignedIn} returning id`,
)
const noteMaker = statement(
  `insert into identity.verifications (id, identifier, value, expires_at, created_at, updated_at) values ($1, 'setup person', $2, $3, $4, $4)`,
)
const forgetMakers = statement(`delete from identity.verifications where identifier = 'setup person' returning value`)
const removeMemberships = statement('delete from identity.memberships where user_id = $1 returning organization_id as id')
const removeEmpty = statement(
  'delete from identity.organizations o where id = any($1::uuid[]) and not exists (select from identity.memberships m where m.organization_id = o.id)',
)
const removePerson = statement('delete from identity.users where id = $1')

/** The one set-up link, kept by its hash among the one-time values of the credential library, and beside it whom its form has made. */
export const setupLinkStore = {
  open({ sequelize }: Opening) {
    const read = <Row>(wanted: Statement, values: readonly unknown[], transaction?: Transaction) => rows<Row>(sequelize, wanted, values, transaction)
    const until = (now: Date) => new Date(now.getTime() + setupLinkMs)
    return {
      /** Whether the hash is that of the link's code, and the link still good. */
      stands: async (hash: string, now: Date): Promise<boolean> => (await read(find, [hash, now])).length > 0,

      /** The same, and nobody else sends its form before the transaction ends. */
      lock: async (hash: string, now: Date, transaction: Transaction): Promise<boolean> => (await read(lock, [hash, now], transaction)).length > 0,

      /** Puts a new link in place of the former one; false once somebody has signed in. */
      replace: async (hash: string, now: Date, transaction: Transaction): Promise<boolean> =>
        (await read(replace, [newId(now), hash, until(now), now], transaction)).length > 0,

      /** Remembers whom the form has made. */
      note: async (userId: string, now: Date, transaction: Transaction): Promise<void> =>
        void (await read(noteMaker, [newId(now), userId, until(now), now], transaction)),

      /** Takes back whom the form made before, with the organizations that nobody else is in: nobody has worked in them. */
      async takeBack(transaction: Transaction): Promise<void> {
        for (const { value: userId } of await read<{ value: string }>(forgetMakers, [], transaction)) {
          const left = await read<{ id: string }>(removeMemberships, [userId], transaction)
          await read(removeEmpty, [left.map(({ id }) => id)], transaction)
          await read(removePerson, [userId], transaction)
        }
      },
    }
  },
}
