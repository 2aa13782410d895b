import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { isId } from '../../../../platform/ids.ts'
import type { Context } from '../../context.ts'
import { outcomeOf } from '../../engines/payment/outcome.ts'
import { forOrganization } from '../../processor.ts'
import type { OursRow } from '../../stores/reconciliation.ts'
import { ProcessorRecordsDocument, type ProcessorRecordsQuery, type ProcessorRecordsQueryVariables } from './ask.generated.ts'
import { type Difference, differenceOf, isExpected, missingHere, missingThere, most, type Ours, oursOf, type Theirs, withTransfers } from './rules.ts'

/** How much earlier and later the processor may have written something down, in ms: it counts whole seconds, by a clock of its own. */
const marginMs = 60_000
/** How many of our transactions are compared at most. */
const mostOurs = 20_000

/** What a comparison has shown. */
export interface Reconciliation {
  readonly checkedAt: Date
  readonly matched: number
  readonly differences: readonly Difference[]
}

/**
 * Compares an organization's transactions with the processor's records.
 * @param to the first moment that is not part of it
 * @throws BAD_USER_INPUT for a span with more records than are compared at once; UPSTREAM_FAILED, or CONFLICT, reason NO_CREDENTIAL, as the gateway says
 */
export async function reconcile(context: Context, organizationId: string, from: Date, to: Date): Promise<Reconciliation> {
  const job = context.jobFor('reconciliation')
  const records = await recordsOf(context, organizationId, new Date(from.getTime() - marginMs), new Date(to.getTime() + marginMs))
  const theirs = withTransfers(records, await job.reconciliation.ofLines(records.flatMap(({ line }) => line ?? [])))
  const [named, within] = await Promise.all([
    job.reconciliation.named(
      theirs.map(({ id }) => id),
      theirs.flatMap(({ transactionId }) => transactionId ?? []),
    ),
    job.reconciliation.within(organizationId, from, to, mostOurs + 1),
  ])
  if (within.length > mostOurs) throw tooMuch()
  const checkedAt = job.clock.now()
  const isWithin = (at: Date): boolean => at >= from && at < to
  const rows = [...new Map([...within, ...named].map(row => [row.id, row])).values()]
  const ours = oursOf(
    rows.filter(row => row.organizationId === organizationId),
    checkedAt,
  )
  const { pairs, foreign } = paired(ours, theirs, rows, organizationId)
  const seen = new Set([...pairs.values()])
  const found: (Difference | null)[] = [...pairs].map(([each, other]) => (each.isUnderway ? null : differenceOf(each, other)))
  for (const record of theirs) if (!seen.has(record) && !foreign.has(record) && isWithin(record.createdAt)) found.push(missingHere(record))
  const alone = ours.filter(each => !pairs.has(each) && isExpected(each) && isWithin(each.createdAt))
  const looked = await Promise.all(
    alone.map(async (each, at) => (at < most.lookups && (await isThere(context, organizationId, each)) ? null : missingThere(each))),
  )
  const differences = [...found, ...looked].filter(difference => difference !== null).sort((one, other) => other.at.getTime() - one.at.getTime())
  const apart = new Set(differences.map(({ transactionId }) => transactionId))
  const matched = [...pairs.keys()].filter(({ transactionId }) => !apart.has(transactionId)).length + looked.filter(each => each === null).length
  return { checkedAt, matched, differences: differences.slice(0, most.differences) }
}

/** Finds the processor's record of each of our things, by the name that it has there or by the id that was sent along. */
function paired(ours: readonly Ours[], theirs: readonly Theirs[], rows: readonly OursRow[], organizationId: string) {
  const byName = new Map(ours.flatMap(each => (each.processorId ? [[each.processorId, each]] : [])))
  const byId = new Map(ours.map(each => [each.transactionId, each]))
  const others = rows.filter(row => row.organizationId !== organizationId)
  const theirNames = new Set(others.flatMap(({ id, processorId }) => (processorId ? [id, processorId] : [id])))
  const pairs = new Map<Ours, Theirs>()
  // Of another organization that has the same account at the processor.
  const foreign = new Set<Theirs>()
  for (const record of theirs) {
    const mine = byName.get(record.id) ?? (record.transactionId ? byId.get(record.transactionId) : undefined)
    if (mine) pairs.set(mine, record)
    else if (theirNames.has(record.id) || (record.transactionId && theirNames.has(record.transactionId))) foreign.add(record)
  }
  return { pairs, foreign }
}

/** Reads the processor's records of a span, page by page. */
async function recordsOf(context: Context, organizationId: string, since: Date, until: Date): Promise<readonly Theirs[]> {
  const found: Theirs[] = []
  let after: string | null = null
  for (let page = 0; page < most.pages; page += 1) {
    const part = await partOf(context, organizationId, { since: since.toISOString(), until: until.toISOString(), after })
    found.push(...(part.nodes ?? []).flatMap(node => (node ? [theirsOf(node)] : [])))
    if (!part.pageInfo.hasNextPage) return found
    after = part.pageInfo.endCursor ?? null
  }
  throw tooMuch()
}

type Part = NonNullable<ProcessorRecordsQuery['processorRecords']>
type Node = NonNullable<NonNullable<Part['nodes']>[number]>

async function partOf({ ask }: Context, organizationId: string, span: ProcessorRecordsQueryVariables): Promise<Part> {
  return (await ask(ProcessorRecordsDocument, span, forOrganization(organizationId)).catch(unread)).processorRecords!
}

function theirsOf({ id, type, status, amount, createdAt, metadata }: Node): Theirs {
  const { transaction_id: transactionId, batch_id: batchId, line_id: lineId } = (metadata ?? {}) as Readonly<Record<string, unknown>>
  return {
    ...{ id, type, status: status ?? null, amountMinor: BigInt(amount.amountMinor), currency: amount.currency, createdAt: new Date(createdAt) },
    transactionId: typeof transactionId === 'string' && isId(transactionId) ? transactionId : null,
    line: typeof batchId === 'string' && isId(batchId) && typeof lineId === 'string' ? { batchId, lineId } : null,
  }
}

/** @throws what is answered where the processor's records cannot be read */
function unread(error: unknown): never {
  const outcome = outcomeOf(error, true)
  throw outcome.kind === 'NOT_SENT' ? outcome.refusal : new DomainError('UPSTREAM_FAILED', 'The processor did not tell its records: try again in a moment.')
}

/** Whether the processor knows something that it has written down at another time, as a payment that was begun long before. */
async function isThere({ processor }: Context, organizationId: string, { type, processorId }: Ours): Promise<boolean> {
  if (processorId === null) return false
  try {
    if (type === 'PAYMENT_INTENT') return (await processor.payment(organizationId, processorId)) !== null
    if (type === 'REFUND') return (await processor.refundBy(organizationId, processorId)) !== null
    return false
  } catch (error) {
    if (codeOf(error) === 'NOT_FOUND') return false
    throw error
  }
}

const tooMuch = (): DomainError =>
  new DomainError('BAD_USER_INPUT', `The processor has more than ${most.pages * 100} records of this span: ask for a shorter one.`, { field: 'to' })
