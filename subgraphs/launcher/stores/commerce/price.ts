import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import type { Openable } from '../../../store/store.ts'
import type { BillingInterval, BillingPackage } from './subscription.ts'

/** A price at the processor. */
export interface BillingPrice {
  readonly package: BillingPackage | 'FREE_WORKSPACE'
  readonly interval: BillingInterval
  readonly unitMinor: bigint
  readonly currency: string
}

const find = statement(
  'select processor_price_id as id from launcher.billing_prices where package = $1 and interval = $2 and unit_minor = $3 and currency = $4',
)
const insert = statement(
  `insert into launcher.billing_prices (package, interval, unit_minor, currency, processor_price_id, created_at) values ($1, $2, $3, $4, $5, $6)
   on conflict do nothing`,
)
const byId = statement('select package, interval, unit_minor as "unitMinor", currency from launcher.billing_prices where processor_price_id = $1 limit 1')

/** Prices that were made at the processor. */
export interface BillingPrices {
  /** Returns the processor's id of a price; null before it was made. */
  idOf(price: BillingPrice): Promise<string | null>
  keep(price: BillingPrice, id: string): Promise<void>
  /** Returns what a price of the processor is for; null for one of others. */
  ofId(id: string): Promise<BillingPrice | null>
}

export const billingPriceStore: Openable<BillingPrices> = {
  open({ sequelize, reading, clock }) {
    const read = <Row extends object>(wanted: Statement, values: readonly unknown[]) => rows<Row>(sequelize, wanted, values, null, reading)
    const keyOf = (price: BillingPrice) => [price.package, price.interval, price.unitMinor, price.currency]
    return {
      idOf: async price => (await read<{ id: string }>(find, keyOf(price)))[0]?.id ?? null,
      async keep(price, id) {
        await read(insert, [...keyOf(price), id, clock.now()])
      },
      async ofId(id) {
        const [found] = await read<BillingPrice>(byId, [id])
        return found ? { ...found, unitMinor: BigInt(found.unitMinor) } : null
      },
    }
  },
}
