import type { WriteTransaction } from '../../../store/books.ts'
import { callerOf, requireOperation } from '../../administration/caller.ts'
import type { Context } from '../../context.ts'

/** The account that pays for mails. */
export interface Account {
  readonly organizationId: string
  readonly appId: string
  /** Charges one mail, in the transaction that writes it. @throws BUDGET_EXCEEDED before anything is written */
  pay(unit: WriteTransaction): Promise<void>
}

/** @throws FORBIDDEN for a service that may not send mails */
export async function accountOf(context: Context): Promise<Account> {
  await requireOperation(context, 'EMAIL')
  const caller = await callerOf(context)
  const { calls, organizationsInUse } = context
  // Looked up before the transaction: within it this would need a second connection, and transactions could deadlock over connections.
  await organizationsInUse.of(caller.organizationId)
  const charge = { family: 'EMAIL', operation: 'email.send', provider: 'smtp', units: 1, micros: calls.priceOf.email } as const
  return { ...caller, pay: async unit => void (await calls.charge(caller, charge, unit)) }
}
