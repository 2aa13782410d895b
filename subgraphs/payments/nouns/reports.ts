import { agingOfKeys } from '../../store/books.ts'
import type { Noun } from '../../wiring/define.ts'
import { auditResolvers } from '../admin/audit/resolvers.ts'
import { settingsResolvers } from '../admin/settings/resolvers.ts'
import { registration } from '../registration.ts'
import { ledgerResolvers } from '../reports/ledger/resolvers.ts'
import { overviewResolvers } from '../reports/overview/resolvers.ts'
import { reconciliationResolvers } from '../reports/reconciliation/resolvers.ts'
import { reportResolvers } from '../reports/report/resolvers.ts'
import { widgetResolvers } from '../reports/widget/resolvers.ts'
import type { At } from './services.ts'

/** For how many days it is remembered what a key has made. */
const keyDays = 30

/** What managers read, and what they set. The audit log and the ledger are for ever. */
export const reportNouns: Readonly<Record<string, Noun<At>>> = {
  'admin/audit': { resolvers: auditResolvers, retention: () => [agingOfKeys(registration.slug, keyDays)] },
  'admin/settings': { resolvers: settingsResolvers },
  'reports/ledger': { resolvers: ledgerResolvers },
  'reports/overview': { resolvers: overviewResolvers },
  'reports/reconciliation': { resolvers: reconciliationResolvers },
  'reports/report': { resolvers: reportResolvers },
  'reports/widget': { resolvers: widgetResolvers },
}
