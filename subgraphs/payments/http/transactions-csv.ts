import { DomainError } from '../../../platform/errors.ts'
import { exponents } from '../../currencies.ts'
import { csvRow } from '../../http/csv.ts'
import { problemOf } from '../../http/problem.ts'
import { activeOrganization } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { maxMetadata } from '../order/metadata.ts'
import { requireSpan } from '../reports/report/rules.ts'
import type { TransactionLine } from '../stores/transaction-table.ts'

const columns = ['id', 'created_at', 'type', 'status', 'order_number', 'amount_minor', 'currency', 'amount', 'processor_id']
const smallestId = '00000000-0000-0000-0000-000000000000'

function readMoment(given: string | null, field: string): Date {
  const at = given && /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(given) ? new Date(given) : null
  if (at && !Number.isNaN(at.getTime())) return at
  throw new DomainError('BAD_USER_INPUT', `${field} is no moment: write one such as 2027-03-01T00:00:00Z.`, { field })
}

/** @throws BAD_USER_INPUT for more keys than an order has, and for what is no key */
function readKeys(given: string | null): readonly string[] {
  const keys = given ? [...new Set(given.split(','))] : []
  if (keys.length > maxMetadata.entries || keys.some(key => !/^[\w.-]{1,40}$/.test(key)))
    throw new DomainError('BAD_USER_INPUT', `metadata names at most ${maxMetadata.entries} keys, with commas between: crm.id,channel.`, { field: 'metadata' })
  return keys
}

/** Writes an amount in decimals of its currency: 1230 fils are `1.230`. @param amountMinor in minor units, not negative */
export function decimalsOf(amountMinor: bigint, currency: string): string {
  const exponent = exponents.get(currency) ?? 0
  const digits = String(amountMinor).padStart(exponent + 1, '0')
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}

function lineOf(keys: readonly string[], line: TransactionLine): string {
  const { id, createdAt, type, status, orderNumber, amountMinor, currency, processorId, metadata } = line
  const values = [id, createdAt.toISOString(), type.toLowerCase(), status.toLowerCase(), orderNumber, String(amountMinor), currency]
  const kept = keys.map(key => metadata?.find(entry => entry.key === key)?.value ?? null)
  return csvRow([...values, decimalsOf(amountMinor, currency), processorId, ...kept])
}

/** Answers transactions as a table, the oldest first; it is read as fast as it is taken. @throws nothing: what is wrong is answered */
export async function answerTransactions({ viewer, transactionTable }: Context, request: Request): Promise<Response> {
  try {
    const organizationId = activeOrganization(viewer, 'Transactions')
    const { searchParams } = new URL(request.url)
    const [from, to] = [readMoment(searchParams.get('from'), 'from'), readMoment(searchParams.get('to'), 'to')]
    requireSpan(from, to)
    const keys = readKeys(searchParams.get('metadata'))
    const encoder = new TextEncoder()
    let place: readonly [Date, string] = [new Date(from.getTime() - 1), smallestId]
    const body = new ReadableStream<Uint8Array>({
      start: controller => controller.enqueue(encoder.encode(csvRow([...columns, ...keys.map(key => `metadata.${key}`)]))),
      async pull(controller) {
        const found = await transactionTable.part(organizationId, place, to)
        const last = found.at(-1)
        if (!last) return controller.close()
        place = [last.createdAt, last.id]
        controller.enqueue(encoder.encode(found.map(line => lineOf(keys, line)).join('')))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="transactions.csv"' } })
  } catch (error) {
    if (error instanceof DomainError) return problemOf(request, error)
    throw error
  }
}
