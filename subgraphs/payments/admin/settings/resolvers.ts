import { change } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, UpdatePaymentSettingsInput } from '../../resolvers.generated.ts'
import type { PaymentSettingsRow } from '../../stores/admin/settings.ts'
import { changesOf } from '../audit/rules.ts'
import { editSettings } from './rules.ts'

/** Fields that the audit log shows. */
const audited = ['defaultCurrency', 'captureMode', 'checkoutMinutes', 'invoiceDueDays', 'refundApprovalThresholds', 'reminderDays'] as const

function updateSettings(context: Context, input: UpdatePaymentSettingsInput): Promise<PaymentSettingsRow> {
  const { viewer, settings } = context
  const organizationId = activeOrganization(viewer, 'Settings')
  const { expectedVersion, idempotencyKey: _, ...fields } = input
  const edit = editSettings(fields)
  return change(context, {
    of: settings,
    id: organizationId,
    expectedVersion,
    once: { what: 'updatePaymentSettings', tenantId: organizationId, input },
    before: ({ transaction, now }) => settings.ensure(organizationId, now, actorOf(viewer), transaction),
    decide: () => edit,
    audit: ({ before, after }) => ({
      tenantId: organizationId,
      action: 'payment_settings.updated',
      subjectId: organizationId,
      details: { changes: changesOf(before, after, audited) },
    }),
  })
}

export const settingsResolvers: Resolvers = {
  Query: {
    paymentSettings: (_, __, { viewer, settings }) => settings.of(activeOrganization(viewer, 'Settings')),
  },
  Mutation: {
    updatePaymentSettings: (_, { input }, context) => updateSettings(context, input),
  },
}
