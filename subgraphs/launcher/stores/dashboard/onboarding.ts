import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { integer, moment, type Row, stamps, table, text, texts, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Onboardings that organizations have completed; the id is the organization's. */
export const organizationOnboardings = table('launcher.organization_onboardings', {
  id: uuid.key,
  completedAt: moment,
  /** Apps that were installed with it, by their slugs. */
  apps: texts,
  teamSize: integer.maybe,
  useCase: text.maybe,
  ...stamps,
})

export type OrganizationOnboardingRow = Row<typeof organizationOnboardings>

/** How far the onboarding of a person in a context is. */
export interface OnboardingRow {
  readonly state: 'RECOVERY_EMAIL' | 'SERVICE' | 'DONE'
  readonly serviceId: string
  readonly next: string
  readonly canComplete: boolean
}

/** Where a viewer works. */
export interface WorkspaceRow {
  /** The active organization; null in personal context. */
  readonly organizationId: string | null
}

const lock = transactionLock('launcher.onboarding')

const ownSql = (rows: Rows<typeof organizationOnboardings>) => ({
  /** Returns the onboarding of an organization, and keeps everybody else from completing it; null while it is not completed. */
  async lockOf(id: string, transaction: Transaction): Promise<OrganizationOnboardingRow | null> {
    await rows.read(lock, [id], transaction)
    return rows.lock(id, transaction)
  },
})

export const onboardingStore = store(organizationOnboardings, { what: 'onboarding', tenancy: { where: 't.id = :organization' } }, ownSql)
