import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { StoreContext } from '../../../store/store.ts'

/** Requests by mail address. */
export type AccountRequest =
  | { readonly kind: 'sign-up'; readonly email: string; readonly details: { readonly name: string; readonly password: string } }
  | { readonly kind: 'verification' | 'password-reset'; readonly email: string; readonly details: object }
  | {
      readonly kind: 'email-change'
      readonly email: string
      readonly details: {
        readonly userId: string
        /** The session of the request; null where an external issuer identifies people. */
        readonly askedBy: string | null
      }
    }

const insert = statement('insert into identity.account_requests (id, kind, email, details, created_at) values ($1, $2, $3, $4, $5)')
const take = statement(
  `delete from identity.account_requests where id = (select id from identity.account_requests where id = $1 for update skip locked)
   returning kind, email, details`,
)
const overdue = statement('select id from identity.account_requests where created_at < $1 order by created_at limit $2')

/** Requests by address, until a job has processed them. */
export const accountRequestStore = {
  open: ({ sequelize }: StoreContext) => ({
    /** @returns its id */
    async add({ kind, email, details }: AccountRequest, { transaction, now }: WriteTransaction): Promise<string> {
      const id = newId(now)
      await rows(sequelize, insert, [id, kind, email, JSON.stringify(details), now], transaction)
      return id
    },

    /** Deletes a request in the transaction that processes it; null when another process has it. */
    async take(id: string, transaction: Transaction): Promise<AccountRequest | null> {
      return (await rows<AccountRequest>(sequelize, take, [id], transaction))[0] ?? null
    },

    /** Returns requests from before a moment: a wake-up may be lost, a request is not. */
    overdue: async (before: Date, most: number): Promise<readonly string[]> =>
      (await rows<{ id: string }>(sequelize, overdue, [before, most])).map(({ id }) => id),
  }),
}
