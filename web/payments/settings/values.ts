import { decimalOf, minorOf } from '../../shell/parts/money.ts'
import type { PaymentSettingsFormFragment, UpdatePaymentSettingsInput } from './settings.generated.ts'

/** What the form of settings holds: everything as it is typed. */
export interface Values {
  readonly defaultCurrency: string
  readonly captureMode: PaymentSettingsFormFragment['captureMode']
  readonly checkoutMinutes: string
  readonly invoiceDueDays: string
  /** Days with commas between them. */
  readonly reminderDays: string
  readonly thresholds: readonly { readonly currency: string; readonly amount: string }[]
}

/** The settings as their form shows them. */
export const valuesOf = (settings: PaymentSettingsFormFragment): Values => ({
  defaultCurrency: settings.defaultCurrency,
  captureMode: settings.captureMode,
  checkoutMinutes: String(settings.checkoutMinutes),
  invoiceDueDays: String(settings.invoiceDueDays),
  reminderDays: settings.reminderDays.join(', '),
  thresholds: settings.refundApprovalThresholds.map(each => ({ currency: each.currency, amount: decimalOf(each) })),
})

/** Whole numbers of a text with commas between them; null for anything else. */
export function daysOf(text: string): readonly number[] | null {
  const parts = text.split(',').map(part => part.trim())
  if (text.trim() === '') return []
  return parts.every(part => /^\d{1,3}$/.test(part)) ? parts.map(Number) : null
}

/** The settings as the graph takes them; null while a field holds something else. */
export function settingsOf(values: Values): Omit<UpdatePaymentSettingsInput, 'expectedVersion' | 'idempotencyKey'> | null {
  const { captureMode, checkoutMinutes, defaultCurrency, invoiceDueDays, thresholds } = values
  const reminderDays = daysOf(values.reminderDays)
  const amounts = thresholds.map(({ amount, currency }) => minorOf(amount, currency))
  if (reminderDays === null || amounts.includes(null) || ![checkoutMinutes, invoiceDueDays].every(text => /^\d{1,4}$/.test(text.trim()))) return null
  return {
    defaultCurrency,
    captureMode,
    checkoutMinutes: Number(checkoutMinutes),
    invoiceDueDays: Number(invoiceDueDays),
    reminderDays: [...reminderDays],
    refundApprovalThresholds: thresholds.map(({ currency }, at) => ({ currency, amountMinor: amounts[at]! })),
  }
}
