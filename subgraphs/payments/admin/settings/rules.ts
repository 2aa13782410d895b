import { DomainError } from '../../../../platform/errors.ts'
import { exponents } from '../../../currencies.ts'
import type { CaptureMode, PaymentSettingsRow, ThresholdRow } from '../../stores/admin/settings.ts'

/** Bounds of the settings. */
export const limits = {
  checkoutMinutes: { min: 30, max: 1_440 },
  invoiceDueDays: { min: 0, max: 365 },
  reminderDays: { min: 0, max: 365, count: 5 },
  thresholds: 200,
  amount: 999_999_999_999n,
} as const

/** Major units above which a refund waits for a second person in currencies without a threshold of their own. */
const usualThreshold = 1_000n

/** What people may change; undefined stays. */
export interface SettingsEdit {
  readonly defaultCurrency?: string | null | undefined
  readonly captureMode?: CaptureMode | null | undefined
  readonly checkoutMinutes?: number | null | undefined
  readonly invoiceDueDays?: number | null | undefined
  readonly refundApprovalThresholds?: readonly { readonly amountMinor: bigint; readonly currency: string }[] | null | undefined
  readonly reminderDays?: readonly number[] | null | undefined
}

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

/** Returns what an edit changes. @throws BAD_USER_INPUT with the field that is wrong */
export function editSettings(edit: SettingsEdit): Partial<PaymentSettingsRow> {
  for (const [field, value] of Object.entries(edit)) if (value === null) refuse(field, `${field} cannot be null: leave it out to keep it.`)
  const { defaultCurrency, captureMode, checkoutMinutes, invoiceDueDays, refundApprovalThresholds, reminderDays } = edit
  return {
    ...(defaultCurrency && { defaultCurrency }),
    ...(captureMode && { captureMode }),
    ...(typeof checkoutMinutes === 'number' && { checkoutMinutes: within(checkoutMinutes, 'checkoutMinutes', limits.checkoutMinutes) }),
    ...(typeof invoiceDueDays === 'number' && { invoiceDueDays: within(invoiceDueDays, 'invoiceDueDays', limits.invoiceDueDays) }),
    ...(refundApprovalThresholds && { refundApprovalThresholds: readThresholds(refundApprovalThresholds) }),
    ...(reminderDays && { reminderDays: readReminderDays(reminderDays) }),
  }
}

const within = (value: number, field: string, { min, max }: { readonly min: number; readonly max: number }): number =>
  value >= min && value <= max ? value : refuse(field, `${field} is ${value}: it takes ${min} to ${max}.`)

function readThresholds(given: readonly { readonly amountMinor: bigint; readonly currency: string }[]): readonly ThresholdRow[] {
  const field = 'refundApprovalThresholds'
  const currencies = new Set(given.map(({ currency }) => currency))
  if (currencies.size < given.length) refuse(field, `${field} names a currency twice: each takes one amount.`)
  return given.map(({ amountMinor, currency }, index) => {
    if (amountMinor < 0n || amountMinor > limits.amount) refuse(`${field}[${index}].amountMinor`, `amountMinor takes 0 to ${limits.amount}.`)
    return { amountMinor: String(amountMinor), currency }
  })
}

function readReminderDays(days: readonly number[]): readonly number[] {
  const { min, max, count } = limits.reminderDays
  if (days.length > count) refuse('reminderDays', `reminderDays has ${days.length} days: the maximum is ${count}.`)
  for (const [index, day] of days.entries()) {
    within(day, 'reminderDays', { min, max })
    if (index > 0 && day <= days[index - 1]!) refuse('reminderDays', 'reminderDays are days in ascending order, each once.')
  }
  return days
}

/** Returns the amount in minor units above which a refund in a currency waits for a second person. */
export function refundThreshold({ refundApprovalThresholds }: Pick<PaymentSettingsRow, 'refundApprovalThresholds'>, currency: string): bigint {
  const own = refundApprovalThresholds.find(threshold => threshold.currency === currency)
  return own ? BigInt(own.amountMinor) : usualThreshold * 10n ** BigInt(exponents.get(currency)!)
}
