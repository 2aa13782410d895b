import type { Events } from '../../../../platform/events.ts'
import { budgetKey, type NewFact } from '../../../store/fact-kinds.ts'
import { widgetTopic } from '../../../subgraph.ts'
import type { BudgetAttention, SpendLimitRow, SpendScopeType } from '../../stores/spend/limit.ts'

/** The topic of a limit's figures. */
export const limitTopic = (id: string): string => `spend_limit.${id}`

/** A mark that changes whenever the limit's state does. */
const markOf = (limit: SpendLimitRow | null): string =>
  limit === null ? 'gone' : `${limit.version} ${limit.since.getTime()} ${limit.spentMicros} ${limit.reservedMicros} ${limit.alerts.length}`

/**
 * Registers the resync of followed limits, because events may be lost, also when a process ends between commit and
 * event.
 * @param limitOf reads the present limit; null if it was deleted
 */
export const resyncLimits = (events: Events, limitOf: (id: string) => Promise<SpendLimitRow | null>): void =>
  events.resync(limitTopic(''), async id => [{ ids: { id }, mark: markOf(await limitOf(id)) }])

/**
 * Minimum interval in ms between events of one topic: limits within the second of their change, widgets each second.
 */
const limitEveryMs = 250
const widgetEveryMs = 1_000

/** Publishes frequent changes at once, then at most at this interval; changes in between are combined. */
export function createBooksNews(events: Events) {
  const resting = new Map<string, { again: boolean; readonly timer: NodeJS.Timeout }>()
  function tell(topic: string, everyMs: number, announce: () => void): void {
    const rest = resting.get(topic)
    if (rest) {
      rest.again = true
      return
    }
    announce()
    const timer = setTimeout(() => {
      const { again } = resting.get(topic)!
      resting.delete(topic)
      if (again) tell(topic, everyMs, announce)
    }, everyMs)
    timer.unref()
    resting.set(topic, { again: false, timer })
  }
  return {
    /** Publishes, after the commit, changes of these limits, and of an organization's calls. */
    announce(limits: readonly string[], organizationId: string | null): void {
      for (const id of limits) tell(limitTopic(id), limitEveryMs, () => events.announce(limitTopic(id), { id }))
      if (organizationId === null) return
      const topic = widgetTopic('providers', organizationId)
      tell(topic, widgetEveryMs, () => events.announce(topic, { app: 'providers' }))
    },
    stop(): void {
      for (const { timer } of resting.values()) clearTimeout(timer)
      resting.clear()
    },
  }
}

const titles: Readonly<Record<BudgetAttention, string>> = {
  BUDGET_NEAR_LIMIT: 'is nearly used up',
  BUDGET_EXHAUSTED: 'refuses calls: it is used up, or does not cover them',
}

const scopeTitles: Readonly<Record<SpendScopeType, (value: string) => string>> = {
  PLATFORM: () => 'The spend limit of the platform',
  ORGANIZATION: () => 'The spend limit of the organization',
  APP: value => `The spend limit of the app ${value}`,
  USER: () => 'The spend limit of a person',
  PROVIDER_FAMILY: value => `The spend limit of ${value}`,
  MODEL: value => `The spend limit of the model ${value}`,
  PLATFORM_CREDENTIALS: () => 'The spend limit of the organization on credentials of the platform',
}

/** Whether a limit's attention has ended: its period is over, it was deleted or raised. */
function isOver(before: SpendLimitRow, after: SpendLimitRow | null): boolean {
  if (after?.attention) return false
  const isGone = !after || after.since.getTime() !== before.since.getTime()
  return before.attention !== null || (isGone && before.alerts.length > 0)
}

/**
 * Returns the facts of a limit's change: its alerts, and the action items of its managers. Closed items come first,
 * because a new item may have the same key.
 * @param after null for a deleted limit
 */
export function factsOf(before: SpendLimitRow | null, after: SpendLimitRow | null, publicUrl: string, at: Date): readonly NewFact[] {
  const facts: NewFact[] = []
  if (before && isOver(before, after)) facts.push({ kind: 'attention.closed', body: { key: budgetKey(before.id) } })
  if (!after) return facts
  const known = before && before.since.getTime() === after.since.getTime() ? before.alerts : []
  for (const { kind } of after.alerts)
    if (!known.some(each => each.kind === kind))
      facts.push({ kind: 'budget.alert', body: { limitId: after.id, organizationId: after.tenantId, scopeType: after.scopeType, kind } })
  if (after.attention && after.attention !== before?.attention)
    facts.push({
      kind: 'attention.opened',
      body: {
        key: budgetKey(after.id),
        kind: after.attention,
        organizationId: after.tenantId,
        subjectId: after.id,
        title: `${scopeTitles[after.scopeType](after.scopeValue)} ${titles[after.attention]}`.slice(0, 300),
        url: `${publicUrl}/providers/api/limits/${after.id}`,
        at: at.toISOString(),
        audience: 'managers',
      },
    })
  return facts
}
