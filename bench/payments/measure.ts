import { million } from '../../test/subgraphs/payments/tables/rows.ts'
import { measureLists } from './lists.ts'
import { measurePaid } from './paid.ts'
import { measurePay } from './pay.ts'
import { measurePostings } from './postings.ts'

/** A tenth of the orders, for machines with little time. */
const small = { ...million, merchants: 20, ordersOfOne: 5_000, elsewhere: 75 }

interface Options {
  readonly rounds: number
  /** Sections whose name matches: pay, postings, paid, lists. @default all */
  readonly only: RegExp | undefined
  readonly isSmall: boolean
}

/** Measures payments, on a PostgreSQL of its own. */
export async function measurePayments({ rounds, only = /./, isSmall }: Options): Promise<string> {
  const { default: setUp } = await import('../../test/kit/run/global-setup.ts')
  const stop = await setUp()
  const sections: Readonly<Record<string, () => Promise<string>>> = {
    pay: () => measurePay({ rounds }),
    postings: () => measurePostings({ rounds }),
    paid: measurePaid,
    lists: () => measureLists({ size: isSmall ? small : million, runs: 40, plans: false }),
  }
  const told: string[] = []
  try {
    for (const [name, measure] of Object.entries(sections)) if (only.test(name)) told.push(`### ${name}\n\n${await measure()}`)
  } finally {
    await stop()
  }
  return told.join('\n\n')
}
