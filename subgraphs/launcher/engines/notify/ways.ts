import type { NoticeRow } from '../../stores/inbox/notice.ts'
import type { PreferenceRule } from '../../stores/inbox/notification-preferences.ts'

/** By which ways a person is told something. */
export type Ways = Pick<PreferenceRule, 'inApp' | 'email' | 'push'>

const fits = (wanted: string, value: string): boolean => wanted === '*' || wanted === value

/** What decides by which ways people are told. */
type Told = Pick<NoticeRow, 'app' | 'kind' | 'severity'> & Partial<Pick<NoticeRow, 'isInAppOnly'>>

/**
 * Returns the ways by which a person is told something: those of the first fitting rule, else in the app, and by push if it is HIGH. What is
 * CRITICAL goes by all ways, whatever the rules say. What an action item says already comes in the app alone.
 */
export function waysOf(rules: readonly PreferenceRule[], told: Told): Ways {
  const { inApp, email, push } = wantedWays(rules, told)
  return told.isInAppOnly ? { inApp, email: false, push: false } : { inApp, email, push }
}

function wantedWays(rules: readonly PreferenceRule[], { app, kind, severity }: Told): Ways {
  if (severity === 'CRITICAL') return { inApp: true, email: true, push: true }
  return rules.find(each => fits(each.app, app) && fits(each.kind, kind)) ?? { inApp: true, email: false, push: severity === 'HIGH' }
}
