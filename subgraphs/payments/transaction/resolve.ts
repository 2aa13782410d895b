import { DomainError } from '../../../platform/errors.ts'
import { readText } from '../../../platform/ids.ts'
import { makeHeld } from '../../store/claim.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { conclude } from '../engines/payment/conclude.ts'
import { failureOf, type Outcome } from '../engines/payment/outcome.ts'
import { concludeTransfer } from '../engines/settlement/conclude.ts'
import type { ResolveTransactionInput } from '../resolvers.generated.ts'
import type { TransactionRow } from '../stores/transaction.ts'

/** How long a note may be, and what the processor calls something, in characters. */
const most = { note: 500, processorId: 255 } as const

/** Types whose success has to have a name at the processor: later calls name it. */
const named: ReadonlySet<TransactionRow['type']> = new Set(['AUTHORIZE', 'PURCHASE', 'REFUND', 'TRANSFER'])

/**
 * Requires that a person may say what became of a transaction.
 * @throws CONFLICT, reason ILLEGAL_MOVE, unless it is UNKNOWN; BAD_USER_INPUT for a success without the processor's name of it
 */
export function readOutcome(transaction: TransactionRow, outcome: ResolveTransactionInput['outcome'], processorId: string | null): Outcome {
  const { status: from, type } = transaction
  if (from !== 'UNKNOWN')
    throw new DomainError('CONFLICT', `The transaction is ${from}: only one whose outcome is UNKNOWN is resolved by a person.`, {
      ...{ reason: 'ILLEGAL_MOVE', from, verb: 'resolve', possible: [] },
    })
  if (outcome === 'FAILED') return { kind: 'FAILED', failure: failureOf('PROCESSOR_ERROR'), processorId }
  if (processorId === null && transaction.processorId === null && named.has(type))
    throw new DomainError('BAD_USER_INPUT', 'processorId is missing: look up what the processor calls this transaction, for later calls name it.', {
      field: 'processorId',
    })
  return { kind: 'SUCCEEDED', processorId }
}

/** Ends a transaction by a person's word; once for each key. */
export async function resolveTransaction(context: Context, input: ResolveTransactionInput): Promise<TransactionRow> {
  const { transactions, viewer } = context
  const tenantId = activeOrganization(viewer, 'Transactions')
  const { id, settlementBatchId } = await transactions.require(input.id)
  const note = readText(input.note, 'note', most.note)
  const processorId = readText(input.processorId, 'processorId', most.processorId)
  const job = context.jobFor(actorOf(viewer))
  const find = () => job.transactions.byId.load(id)
  const { row } = await makeHeld<TransactionRow>(context, {
    ...{ what: 'resolveTransaction', tenantId, once: input, find },
    async make() {
      const outcome = readOutcome((await find())!, input.outcome, processorId)
      // Whoever was quicker, a person or the processor, has said it: this one is told what it is now.
      const isRecorded = settlementBatchId ? await concludeTransfer(job, id, outcome, { note }) : (await conclude(job, id, outcome, { note })) !== null
      if (!isRecorded) readOutcome((await find())!, input.outcome, processorId)
      return (await find())!
    },
  })
  return row
}
