import type { Transaction } from 'sequelize'
import { DomainError } from '../../../../platform/errors.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export type VenueStatus = 'ACTIVE' | 'ARCHIVED'

/** Where a venue is; null for a line that nobody wrote. */
export interface VenueAddress {
  readonly line1: string | null
  readonly line2: string | null
  readonly city: string | null
  readonly postalCode: string | null
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
}

export const venues = table('payments.venues', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  name: text,
  address: json.of<VenueAddress>().maybe,
  /** A name of the IANA database. */
  timeZone: text.or('UTC'),
  status: text.of<VenueStatus>().or('ACTIVE'),
  ...stamps,
})

export type VenueRow = Row<typeof venues>

const lockMaking = transactionLock('payments.venues')
const countOf = statement('select count(*)::int as count from payments.venues where merchant_id = $1')

/** Returns the statements that only venues have. */
const venueSql = (rows: Rows<typeof venues>) => ({
  /** Counts the venues of a merchant. No other venue of it is made before the transaction ends. */
  async countOf(merchantId: string, transaction: Transaction): Promise<number> {
    await rows.read(lockMaking, [merchantId], transaction)
    const [found] = await rows.read<{ count: number }>(countOf, [merchantId], transaction)
    return found!.count
  },
})

export const venueStore = store(
  venues,
  {
    what: 'venue',
    tenancy: { by: 'organizationId' },
    filters: { merchantId: 'eq', status: 'eq' },
    manyBy: { merchantId: 't.created_at, t.id' },
  },
  venueSql,
)

/** @throws CONFLICT, reason VENUE_ARCHIVED, for a venue that is out of use */
export function requireActiveVenue({ status }: Pick<VenueRow, 'status'>): void {
  if (status === 'ARCHIVED') throw new DomainError('CONFLICT', 'The venue is archived: restore it first.', { reason: 'VENUE_ARCHIVED' })
}
