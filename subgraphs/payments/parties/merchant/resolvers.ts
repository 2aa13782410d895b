import { requireQuota } from '../../../../platform/limit.ts'
import { change, create } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import { changesOf } from '../../admin/audit/rules.ts'
import type { Context } from '../../context.ts'
import type { CreateMerchantInput, Resolvers, SuspendMerchantInput, UpdateMerchantInput } from '../../resolvers.generated.ts'
import { firstFreePrefix, type MerchantRow } from '../../stores/merchant.ts'
import { editMerchant, max, readMerchant, requireFreePrefix } from './rules.ts'

/** Fields that the audit log shows. */
const audited = ['name', 'legalName', 'country', 'defaultCurrency', 'invoicePrefix', 'taxId', 'supportEmail', 'status'] as const

const line = (action: string, before: MerchantRow | null, after: MerchantRow) => ({
  tenantId: after.organizationId,
  action,
  subjectId: after.id,
  details: { changes: changesOf(before, after, audited) },
})

async function createMerchant(context: Context, input: CreateMerchantInput): Promise<MerchantRow> {
  const { viewer, merchants, settings } = context
  const organizationId = activeOrganization(viewer, 'Merchants')
  const { invoicePrefix, ...fields } = readMerchant(input)
  const defaultCurrency = input.defaultCurrency ?? (await settings.of(organizationId)).defaultCurrency
  const { row } = await create(context, {
    of: merchants,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const taken = [...(await merchants.prefixesOf(organizationId, transaction)).values()]
      const quota = { inAll: max.merchants, aDay: Number.POSITIVE_INFINITY }
      requireQuota({ inAll: taken.length, today: 0, todaySince: null }, quota, 'merchants of this organization', 'rename one that is no longer needed', now)
      if (invoicePrefix !== null) requireFreePrefix(invoicePrefix, taken)
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      return { id, organizationId, ...fields, defaultCurrency, invoicePrefix: invoicePrefix ?? firstFreePrefix(taken), ...stamps }
    },
    audit: row => line('merchant.created', null, row),
  })
  return row
}

async function updateMerchant(context: Context, input: UpdateMerchantInput): Promise<MerchantRow> {
  const { viewer, merchants } = context
  const { id, expectedVersion, idempotencyKey: _, ...fields } = input
  const edit = editMerchant(fields)
  const tenantId = activeOrganization(viewer, 'Merchants')
  return change(context, {
    of: merchants,
    id,
    expectedVersion,
    once: { what: 'updateMerchant', tenantId, input },
    async before({ transaction }) {
      if (edit.invoicePrefix === undefined) return
      const taken = await merchants.prefixesOf(tenantId, transaction)
      requireFreePrefix(
        edit.invoicePrefix,
        [...taken].flatMap(([merchant, prefix]) => (merchant === id.toLowerCase() ? [] : [prefix])),
      )
    },
    decide: () => edit,
    audit: ({ before, after }) => line('merchant.updated', before, after),
  })
}

const setStatus = (context: Context, input: SuspendMerchantInput, what: 'suspendMerchant' | 'resumeMerchant', status: MerchantRow['status']) =>
  change(context, {
    of: context.merchants,
    id: input.id,
    expectedVersion: input.expectedVersion,
    once: { what, tenantId: activeOrganization(context.viewer, 'Merchants'), input },
    decide: () => ({ status }),
    audit: ({ before, after }) => line(status === 'SUSPENDED' ? 'merchant.suspended' : 'merchant.resumed', before, after),
  })

export const merchantResolvers: Resolvers = {
  Query: {
    merchant: (_, { id }, { merchants }) => merchants.require(id),
    merchants: async (_, { status, ...page }, { viewer, merchants }) => {
      activeOrganization(viewer, 'Merchants')
      return merchants.filtered({ status }, page)
    },
  },
  Mutation: {
    createMerchant: (_, { input }, context) => createMerchant(context, input),
    updateMerchant: (_, { input }, context) => updateMerchant(context, input),
    suspendMerchant: (_, { input }, context) => setStatus(context, input, 'suspendMerchant', 'SUSPENDED'),
    resumeMerchant: (_, { input }, context) => setStatus(context, input, 'resumeMerchant', 'ACTIVE'),
  },
  Merchant: { __resolveReference: ({ id }, { merchants }) => merchants.byId.load(id) },
}
