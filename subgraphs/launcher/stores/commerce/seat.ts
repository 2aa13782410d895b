import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'

export const seats = table('launcher.seats', {
  id: uuid.key,
  organizationId: uuid,
  userId: uuid,
  kind: text.of<'HUMAN' | 'AGENT'>(),
  assignedAt: moment,
  /** When a manager released it: the member gets none by joining order; null while it is held. */
  releasedAt: moment.maybe,
  ...stamps,
})

export type SeatRow = Row<typeof seats>

/** Condition for seats that managers of the active organization see. */
const seen = `t.organization_id = :organization and :roles::text[] && array['owner', 'admin']`

const all = statement(`select ${selectList(seats, 't')} from launcher.seats t where t.organization_id = $1 order by t.assigned_at, t.id`)
const held = statement('select count(*)::int as count from launcher.seats t where t.organization_id = $1 and t.released_at is null')
const holds = statement('select t.id from launcher.seats t where t.organization_id = $1 and t.user_id = $2 and t.released_at is null')
const request = statement(
  `insert into launcher.seat_accounts (organization_id, due_at, reconciled_at) values ($1, $2, $2)
   on conflict (organization_id) do update set due_at = excluded.due_at, turn = seat_accounts.turn + 1`,
)
const wake = statement(
  'update launcher.seat_accounts set due_at = $2, turn = turn + 1 where organization_id = $1 returning organization_id as "organizationId"',
)
const account = statement('select turn from launcher.seat_accounts where organization_id = $1')
const due = statement('select organization_id as "organizationId" from launcher.seat_accounts where due_at <= $1 order by due_at limit $2')
const done = statement('update launcher.seat_accounts set due_at = null where organization_id = $1 and turn = $2')
const postpone = statement('update launcher.seat_accounts set due_at = $2 where organization_id = $1')
const begin = statement('insert into launcher.seat_changes (organization_id, id, quantity, until) values ($1, $2, $3, $4)')
const end = statement('delete from launcher.seat_changes where organization_id = $1 and (id = $2 or until <= $3)')
const fewest = statement('select min(quantity) as quantity from launcher.seat_changes where organization_id = $1 and until > $2')
const accounts = statement(
  `select organization_id as "organizationId" from launcher.seat_accounts where $1::uuid is null or organization_id > $1 order by organization_id limit $2`,
)
const old = statement('select organization_id as "organizationId" from launcher.seat_accounts where reconciled_at <= $1 order by reconciled_at limit $2')
const reconciled = statement('update launcher.seat_accounts set reconciled_at = $2 where organization_id = $1')

type Account = { readonly organizationId: string }

const seatSql = (rows: Rows<typeof seats>, { reading, viewer }: StoreContext) => {
  const own = createLoader<'own', boolean>(reading, async () => [
    Boolean(viewer?.organizationId && viewer.userId && (await rows.read(holds, [viewer.organizationId, viewer.userId])).length > 0),
  ])
  const organizations = async (wanted: typeof due, values: readonly unknown[]) => (await rows.read<Account>(wanted, values)).map(each => each.organizationId)
  return {
    /** Whether the viewer holds a seat of the active organization. */
    isHeld: () => own.load('own'),
    /** Returns the seats of an organization, released ones included, the first assigned first. */
    allOf: (organizationId: string, transaction: Transaction) => rows.read(all, [organizationId], transaction),
    async countHeld(organizationId: string, transaction?: Transaction): Promise<number> {
      return (await rows.read<{ count: number }>(held, [organizationId], transaction))[0]!.count
    },
    /** Has seats of an organization given, which from then on has an account. */
    async request(organizationId: string, now: Date, transaction: Transaction): Promise<void> {
      await rows.read(request, [organizationId, now], transaction)
    },
    /** Has seats given in an organization that has an account. @returns whether it has one */
    async wake(organizationId: string, now: Date, transaction: Transaction): Promise<boolean> {
      return (await rows.read(wake, [organizationId, now], transaction)).length > 0
    },
    /** Returns organizations in which seats are to be given, the longest due first. */
    due: (now: Date, limit: number) => organizations(due, [now, limit]),
    /** Counter of the changes in an organization; null while it has no account. */
    async turnOf(organizationId: string): Promise<number | null> {
      return (await rows.read<{ turn: number }>(account, [organizationId]))[0]?.turn ?? null
    },
    /** Notes that seats were given, unless something has changed since the counter was read. */
    async noteGiven(organizationId: string, turn: number, transaction: Transaction): Promise<void> {
      await rows.read(done, [organizationId, turn], transaction)
    },
    async postpone(organizationId: string, at: Date): Promise<void> {
      await rows.read(postpone, [organizationId, at])
    },
    /** Has no more seats given than these while a bundle is changed. Take the owner's lock first. @param until when it ends by itself */
    async beginChange(organizationId: string, change: { readonly id: string; readonly quantity: number; readonly until: Date }, transaction: Transaction) {
      await rows.read(begin, [organizationId, change.id, change.quantity, change.until], transaction)
    },
    /** Ends a change, and those that have ended by themselves. */
    async endChange(organizationId: string, id: string, now: Date, transaction: Transaction): Promise<void> {
      await rows.read(end, [organizationId, id, now], transaction)
    },
    /** Returns the fewest seats to which a bundle is being changed; null while none is. */
    async fewestChanged(organizationId: string, now: Date, transaction: Transaction): Promise<number | null> {
      return (await rows.read<{ quantity: number | null }>(fewest, [organizationId, now], transaction))[0]!.quantity
    },
    /** Returns organizations that have an account, by id. @param after the last one of the page before; null: from the first */
    accountsAfter: (after: string | null, limit: number) => organizations(accounts, [after, limit]),
    /** Returns organizations that were not compared with the processor since a moment. */
    unreconciled: (since: Date, limit: number) => organizations(old, [since, limit]),
    async noteReconciled(organizationId: string, now: Date): Promise<void> {
      await rows.read(reconciled, [organizationId, now])
    },
  }
}

export const seatStore = store(
  seats,
  { what: 'seat', tenancy: { where: seen }, lists: { held: { below: 'organizationId', order: 'newest first', only: 't.released_at is null' } } },
  seatSql,
)

export type Seats = ReturnType<(typeof seatStore)['open']>
