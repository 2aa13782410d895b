import type { NoticeRow } from '../../stores/inbox/notice.ts'
import type { PreferenceRule } from '../../stores/inbox/notification-preferences.ts'

/** By which ways a person is told something. */
export type Ways = Pick<PreferenceRule, 'inApp' | 'email' | 'push'>

const fits = (wanted: string, value: string): boolean => wanted === '*' || wanted === value

/**
 * Returns the ways by which a person is told something: those of the first fitting rule, else in the app, and by push if it is HIGH. What is
 * CRITICAL goes by all ways, whatever the rules say.
 */
export function waysOf(rules: readonly PreferenceRule[], { app, kind, severity }: Pick<NoticeRow, 'app' | 'kind' | 'severity'>): Ways {
  if (severity === 'CRITICAL') return { inApp: true, email: true, push: true }
  const rule = rules.find(each => fits(each.app, app) && fits(each.kind, kind))
  return rule ? { inApp: rule.inApp, email: rule.email, push: rule.push } : { inApp: true, email: false, push: severity === 'HIGH' }
}
