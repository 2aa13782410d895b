import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

export type LeadKind = 'WAITLIST' | 'DEMO' | 'CONTACT' | 'FEEDBACK' | 'CHECKOUT'
export type LeadStatus = 'NEW' | 'OPEN' | 'DONE' | 'SPAM'

export const leads = table('launcher.leads', {
  id: uuid.key,
  kind: text.of<LeadKind>(),
  status: text.of<LeadStatus>().or('NEW'),
  name: text.maybe,
  email: text,
  company: text.maybe,
  seats: integer.maybe,
  purpose: text.maybe,
  product: text.maybe,
  topic: text.maybe,
  page: text.maybe,
  message: text.maybe,
  startsAt: moment.maybe,
  /** Whether its demo holds the slot. */
  isBooked: truth.or(false),
  /** Hash of the code that cancels the demo; null once it was used. */
  codeHash: text.maybe,
  note: text.maybe,
  ...stamps,
})

export type LeadRow = Row<typeof leads>

const lockName = transactionLock('launcher.lead', 1)
const select = `select ${selectList(leads, 't')} from launcher.leads t where`
const waiting = statement(`${select} t.kind = 'WAITLIST' and t.email = $1 and coalesce(t.product, '') = $2`)
const byCode = statement(`${select} t.code_hash = $1 for no key update of t`)
const booked = statement('select t.starts_at as "startsAt" from launcher.leads t where t.is_booked and t.starts_at >= $1 and t.starts_at < $2')

const leadSql = (rows: Rows<typeof leads>) => ({
  /** Returns the lead of an address that waits for a product, and holds back others who join for it; null while there is none. */
  async lockWaiting(email: string, product: string | null, transaction: Transaction): Promise<LeadRow | null> {
    await rows.read(lockName, [`waitlist ${email} ${product ?? ''}`], transaction)
    return (await rows.read(waiting, [email, product ?? ''], transaction))[0] ?? null
  },

  /** Tells whether a demo has the slot, and holds back others who book it. */
  async lockSlot(startsAt: Date, transaction: Transaction): Promise<boolean> {
    await rows.read(lockName, [`slot ${startsAt.toISOString()}`], transaction)
    return (await rows.read(booked, [startsAt, new Date(startsAt.getTime() + 1)], transaction)).length > 0
  },

  /** Starts of booked demos within a period, in ms. */
  async bookedWithin(from: Date, to: Date): Promise<ReadonlySet<number>> {
    const found = await rows.read<{ startsAt: Date }>(booked, [from, to])
    return new Set(found.map(({ startsAt }) => startsAt.getTime()))
  },

  /** Locks the lead whose demo the code cancels; null for an unknown code and for one that was used. */
  async lockByCode(codeHash: string, transaction: Transaction): Promise<LeadRow | null> {
    return (await rows.read(byCode, [codeHash], transaction))[0] ?? null
  },
})

export const leadStore = store(
  leads,
  {
    what: 'lead',
    tenancy: { everybody: 'leads are the platform’s: the policy platform_admin guards them, and visitors are never answered with one' },
    filters: { kind: 'eq', status: 'eq' },
  },
  leadSql,
)

/** Leads as they are opened for an operation, or for a job. */
export type Leads = ReturnType<(typeof leadStore)['open']>
