import type { Unit } from '../../../store/books.ts'
import { callerOf, requireOperation } from '../../administration/caller.ts'
import type { Context } from '../../context.ts'

/** On whose account mails are sent. */
export interface Account {
  readonly organizationId: string
  readonly appId: string
  /** Pays for one mail, in the transaction that writes it down. @throws BUDGET_EXCEEDED before anything is written */
  pay(unit: Unit): Promise<void>
}

/** @throws FORBIDDEN for a service that may not send mails */
export async function accountOf(context: Context): Promise<Account> {
  await requireOperation(context, 'EMAIL')
  const caller = await callerOf(context)
  const { calls, organizationsInUse } = context
  // Known before the transaction begins: within one it would wait for a second connection, and many that do so wait for each other.
  await organizationsInUse.of(caller.organizationId)
  const charge = { family: 'EMAIL', operation: 'email.send', provider: 'smtp', units: 1, micros: calls.priceOf.email } as const
  return { ...caller, pay: async unit => void (await calls.charge(caller, charge, unit)) }
}
