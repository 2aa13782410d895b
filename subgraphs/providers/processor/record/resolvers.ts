import type { Stripe } from 'stripe'
import { DomainError } from '../../../../platform/errors.ts'
import { readPage, writeCursor } from '../../../../platform/page.ts'
import { fromProcessor } from '../../../currencies.ts'
import { callerOf, requireOperation } from '../../administration/caller.ts'
import type { Context } from '../../context.ts'
import type { ProcessorRecordType, Resolvers } from '../../resolvers.generated.ts'
import { askProcessor, type Options } from '../exchange.ts'
import { momentOf, upper } from '../read.ts'
import { type Listed, merge, order, type Part, type Place, placeOf, recordTypes } from './merge.ts'

interface Found {
  readonly id: string
  readonly amount: number
  readonly currency: string
  readonly status?: string | null
  readonly metadata: Readonly<Record<string, string>> | null
}

type Params = Stripe.PaginationParams & { readonly created: Stripe.RangeQueryParam }

interface Page<Entry> {
  readonly data: readonly Entry[]
  readonly has_more: boolean
}

const entryOf = (type: ProcessorRecordType, value: Found & { readonly created: number }): Listed<Found> => ({
  type,
  at: value.id,
  created: value.created,
  value,
})

const part = <Entry>(type: ProcessorRecordType, { data, has_more }: Page<Entry>, listed: (entry: Entry) => Listed<Found> | null): Part<Found> => ({
  type,
  entries: data.flatMap(entry => listed(entry) ?? []),
  hasMore: has_more,
})

/**
 * Reads a part of each list. Reversals have no list: they are found in the balance transactions, which contain each
 * once.
 */
const lists: Readonly<Record<ProcessorRecordType, (stripe: Stripe, params: Params, options: Options) => Promise<Part<Found>>>> = {
  PAYMENT_INTENT: async (stripe, params, options) =>
    part('PAYMENT_INTENT', await stripe.paymentIntents.list(params, options), each => entryOf('PAYMENT_INTENT', each)),
  REFUND: async (stripe, params, options) => part('REFUND', await stripe.refunds.list(params, options), each => entryOf('REFUND', each)),
  TRANSFER: async (stripe, params, options) =>
    part('TRANSFER', await stripe.transfers.list(params, options), each => entryOf('TRANSFER', { ...each, status: null })),
  TRANSFER_REVERSAL: async (stripe, params, options) =>
    part(
      'TRANSFER_REVERSAL',
      await stripe.balanceTransactions.list({ ...params, type: 'transfer_refund', expand: ['data.source'] }, options),
      ({ id, created, source }) => {
        if (typeof source !== 'object' || source?.object !== 'transfer_reversal') return null
        return { type: 'TRANSFER_REVERSAL', at: id, created, value: { ...source, status: null } }
      },
    ),
  DISPUTE: async (stripe, params, options) => part('DISPUTE', await stripe.disputes.list(params, options), each => entryOf('DISPUTE', each)),
}

const needs = (type: ProcessorRecordType): 'PAYMENTS' | 'TRANSFERS' => (type.startsWith('TRANSFER') ? 'TRANSFERS' : 'PAYMENTS')

/**
 * Returns the requested types without duplicates; by default all that the caller's operations allow. @throws FORBIDDEN
 */
async function typesFor(context: Context, asked: readonly ProcessorRecordType[] | null | undefined): Promise<readonly ProcessorRecordType[]> {
  if (asked?.length === 0) throw new DomainError('BAD_USER_INPUT', 'types names nothing: leave it out, or name what is looked for.', { field: 'types' })
  const { operations } = await callerOf(context)
  const wanted = recordTypes.filter(type => (asked ? asked.includes(type) : operations?.includes(needs(type))))
  for (const operation of new Set(wanted.length > 0 ? wanted.map(needs) : (['PAYMENTS'] as const))) await requireOperation(context, operation)
  return wanted
}

/** Returns the first and last second of a period. */
function spanOf(since: Date, until: Date, { created }: Place): { readonly gte: number; readonly lt: number } {
  const [gte, lt] = [since, until].map(moment => Math.ceil(moment.getTime() / 1000)) as [number, number]
  if (since >= until) throw new DomainError('BAD_USER_INPUT', 'until is not after since: name a span of time.', { field: 'until' })
  // Records created since the former page are newer than it, so they do not appear here.
  return { gte, lt: created === null ? lt : Math.min(lt, created + 1) }
}

const recordOf = ({ type, created, value: { id, amount, currency, status, metadata } }: Listed<Found>) => ({
  ...{ id, type, status: upper(status), amount: fromProcessor(amount, currency), createdAt: momentOf(created), metadata: metadata ?? {} },
})

export const processorRecordResolvers: Resolvers = {
  Query: {
    async processorRecords(_, { types: asked, since, until, ...page }, context) {
      const { first, after } = readPage(page, order)
      const types = await typesFor(context, asked)
      const from = placeOf(after)
      const created = spanOf(since, until, from)
      const parts = await askProcessor(context, {
        ...{ operation: 'processorRecords', calls: types.length },
        run: (stripe, options) =>
          Promise.all(
            types.map(type => lists[type](stripe, { limit: first, created, ...(from.after[type] && { starting_after: from.after[type] }) }, { ...options })),
          ),
      })
      const { shown, hasMore } = merge(parts, from, first)
      const edges = shown.map(entry => ({ cursor: writeCursor(entry, order), node: recordOf(entry) }))
      return {
        edges,
        nodes: edges.map(({ node }) => node),
        pageInfo: {
          ...{ hasNextPage: hasMore, hasPreviousPage: after !== null },
          ...{ startCursor: edges[0]?.cursor ?? null, endCursor: edges.at(-1)?.cursor ?? null },
        },
        // As for our own pages, the total is read only if it is selected.
        totalCount: (() => (after === null && !hasMore ? shown.length : null)) as unknown as number | null,
      }
    },
  },
}
