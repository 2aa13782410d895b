import type { Noun } from '../../wiring/define.ts'
import { calendarResolvers } from './calendar/resolvers.ts'
import { campaignResolvers } from './campaign/resolvers.ts'

/** When posts appear, and what for. */
export const planningNouns: Readonly<Record<string, Noun<object>>> = {
  campaign: { resolvers: campaignResolvers },
  calendar: { resolvers: calendarResolvers },
}
