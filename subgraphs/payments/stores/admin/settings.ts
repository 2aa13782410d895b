import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** What a checkout session does: takes the money at once, or reserves it until the order is captured. */
export type CaptureMode = 'AUTOMATIC' | 'MANUAL'

/** The amount above which refunds in a currency wait for a second person: minor units, as digits. */
export interface ThresholdRow {
  readonly amountMinor: string
  readonly currency: string
}

export const settings = table('payments.settings', {
  /** The organization. */
  id: uuid.key,
  defaultCurrency: text.or('EUR'),
  captureMode: text.of<CaptureMode>().or('AUTOMATIC'),
  checkoutMinutes: integer.or(60),
  invoiceDueDays: integer.or(14),
  refundApprovalThresholds: json.of<readonly ThresholdRow[]>().or([]),
  reminderDays: json.of<readonly number[]>().or([3, 7, 14]),
  ...stamps,
})

export type PaymentSettingsRow = Row<typeof settings>

/** What an organization has that has changed nothing. */
export const defaultSettings = {
  defaultCurrency: 'EUR',
  captureMode: 'AUTOMATIC',
  checkoutMinutes: 60,
  invoiceDueDays: 14,
  refundApprovalThresholds: [],
  reminderDays: [3, 7, 14],
} as const

const ensure = statement(`insert into payments.settings (id, created_at, updated_at, created_by) values ($1, $2, $2, $3) on conflict (id) do nothing`)

/** Returns the statements that only settings have. */
const settingsSql = (rows: Rows<typeof settings>) => ({
  /** Returns the settings of an organization; the defaults, at version 1, before it has a row. */
  async of(organizationId: string): Promise<PaymentSettingsRow> {
    const found = await rows.byId.load(organizationId)
    return found ?? { id: organizationId, ...defaultSettings, version: 1, createdAt: new Date(0), updatedAt: new Date(0), createdBy: 'platform' }
  },

  /** Gives an organization its row, with the defaults, unless it has one. */
  async ensure(organizationId: string, now: Date, createdBy: string, transaction: Transaction): Promise<void> {
    await rows.read(ensure, [organizationId, now, createdBy], transaction)
  },
})

export const settingsStore = store(settings, { what: 'settings', tenancy: { by: 'id' } }, settingsSql)

/** Settings as they are opened for an operation, or for a job. */
export type PaymentSettings = ReturnType<(typeof settingsStore)['open']>
