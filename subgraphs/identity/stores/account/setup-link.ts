import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import type { StoreContext } from '../../../store/store.ts'

/** Lifetime of a set-up link in ms; a later start replaces it sooner. */
export const setupLinkMs = 24 * 3600_000

/**
 * Condition that nobody has signed in: every sign-in is stored with its address, or with the other issuer's subject.
 */
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

/**
 * The single set-up link, stored by its hash among the credential library's one-time values, with the account that its
 * form created.
 */
export const setupLinkStore = {
  open({ sequelize }: StoreContext) {
    const read = <Row>(wanted: Statement, values: readonly unknown[], transaction?: Transaction) => rows<Row>(sequelize, wanted, values, transaction)
    const until = (now: Date) => new Date(now.getTime() + setupLinkMs)
    return {
      /** Whether the hash is that of the link's code, and the link still good. */
      stands: async (hash: string, now: Date): Promise<boolean> => (await read(find, [hash, now])).length > 0,

      /** Locks the link, so that no other form is processed before the transaction ends. */
      lock: async (hash: string, now: Date, transaction: Transaction): Promise<boolean> => (await read(lock, [hash, now], transaction)).length > 0,

      /** Replaces the former link; false once somebody has signed in. */
      replace: async (hash: string, now: Date, transaction: Transaction): Promise<boolean> =>
        (await read(replace, [newId(now), hash, until(now), now], transaction)).length > 0,

      /** Stores the account that the form created. */
      note: async (userId: string, now: Date, transaction: Transaction): Promise<void> =>
        void (await read(noteMaker, [newId(now), userId, until(now), now], transaction)),

      /** Deletes the account of an earlier form, with the organizations that have no other member. */
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
