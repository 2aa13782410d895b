import { budgetKey, type FactBody } from '../../store/fact-kinds.ts'
import type { ActionItemRow } from '../stores/inbox/action-item.ts'
import type { Opened } from './rules.ts'

/** Kind of the item for a spend limit's alert; other alerts come with an attention fact of their own. */
const kind = 'BUDGET_ALERT'
const titles: Readonly<Record<string, (scope: string) => string>> = {
  SOFT: scope => `The soft amount of a spend limit of ${scope} is spent`,
  PERCENT_50: scope => `Half of a spend limit of ${scope} is spent`,
}

const scopes: Readonly<Record<string, string>> = {
  PLATFORM: 'the platform',
  ORGANIZATION: 'the organization',
  APP: 'an app',
  USER: 'a person',
  PROVIDER_FAMILY: 'a family of providers',
  MODEL: 'a model',
  PLATFORM_CREDENTIALS: 'the organization on credentials of the platform',
}

/** Returns the key of an alert's item: that of the attention for the same limit, so that both are one item. */
export const keyOfAlert = ({ limitId }: FactBody<'budget.alert'>): string => budgetKey(limitId)

/**
 * Returns the item of a spend limit's alert, for managers; null for an alert that comes with an attention fact for the
 * same limit, and while that item is open.
 */
export function alerting(
  present: Pick<ActionItemRow, 'status' | 'kind'> | null,
  { limitId, organizationId, scopeType, kind: alert }: FactBody<'budget.alert'>,
  at: Date,
  publicUrl: string,
): Opened | null {
  const title = titles[alert]
  if (!title || (present?.status === 'OPEN' && present.kind !== kind)) return null
  return {
    ...{ kind, severity: 'NORMAL', organizationId, audience: 'managers', userId: null, subjectId: limitId, body: null, dueAt: null, openedAt: at },
    title: title(scopes[scopeType] ?? 'somebody'),
    url: `${publicUrl}/providers/api/limits/${limitId}`,
  }
}
