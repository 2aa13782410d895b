import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { BillingInterval, BillingOwner, BillingPackage, OwnerType } from './subscription.ts'

/** What is subscribed to on a page of the processor. */
export type CheckoutKind = 'BUNDLE' | 'FREE_WORKSPACE'

export const billingCheckouts = table('launcher.billing_checkouts', {
  id: uuid.key,
  ownerType: text.of<OwnerType>(),
  ownerId: uuid,
  kind: text.of<CheckoutKind>(),
  package: text.of<BillingPackage | 'FREE_WORKSPACE'>(),
  interval: text.of<BillingInterval>(),
  seats: integer,
  returnTo: text,
  /** OPENING: the processor has not made the page yet. */
  status: text.of<'OPENING' | 'OPEN' | 'COMPLETE' | 'EXPIRED'>().or('OPENING'),
  processorSessionId: text.maybe,
  url: text.maybe,
  expiresAt: moment.maybe,
  ...stamps,
})

export type BillingCheckoutRow = Row<typeof billingCheckouts>

const select = `select ${selectList(billingCheckouts, 't')} from launcher.billing_checkouts t where`
const bySession = statement(`${select} t.processor_session_id = $1 for no key update of t`)
const openOf = statement(`${select} t.owner_type = $1 and t.owner_id = $2 and t.kind = $3 and t.status = 'OPEN' order by t.created_at limit 100`)

const checkoutSql = (rows: Rows<typeof billingCheckouts>) => ({
  /** Locks the checkout of a page; null for a page of somebody else. */
  async lockBySession(sessionId: string, transaction: Transaction): Promise<BillingCheckoutRow | null> {
    return (await rows.read(bySession, [sessionId], transaction))[0] ?? null
  },
  /** Returns an owner's pages of a kind on which somebody may still pay. */
  openOf: ({ ownerType, ownerId }: BillingOwner, kind: CheckoutKind) => rows.read(openOf, [ownerType, ownerId, kind]),
})

const seen = `case when :organization::uuid is null then t.owner_type = 'USER' and t.owner_id = :person
  else t.owner_type = 'ORGANIZATION' and t.owner_id = :organization end`

export const billingCheckoutStore = store(billingCheckouts, { what: 'checkout', tenancy: { where: seen } }, checkoutSql)
