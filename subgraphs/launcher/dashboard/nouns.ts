import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { announcementResolvers } from './announcement/resolvers.ts'
import { resyncAnnouncements } from './announcement/rules.ts'
import { timesOfAnnouncements } from './announcement/times.ts'
import { favouriteResolvers } from './favourite/resolvers.ts'
import { settleInvitations } from './household/items.ts'
import { householdResolvers } from './household/resolvers.ts'
import { ownWidgetResolvers } from './own-widget/resolvers.ts'
import { dashboardResolvers } from './resolvers.ts'
import { searchResolvers } from './search/resolvers.ts'
import { settingsResolvers } from './settings/resolvers.ts'
import { sharedLinkResolvers } from './shared-link/resolvers.ts'
import { workspaceHandlers } from './workspace/handlers.ts'
import { workspaceResolvers } from './workspace/resolvers.ts'

/** Days for which an announcement is kept after its end. */
const keptDays = 90

/** A dashboard beside its widgets: layouts, favourites, links, announcements, settings and their search. */
export const dashboardNouns: Readonly<Record<string, Noun<At>>> = {
  dashboard: { resolvers: dashboardResolvers },
  favourite: { resolvers: favouriteResolvers },
  'shared-link': { resolvers: sharedLinkResolvers },
  announcement: {
    resolvers: announcementResolvers,
    sweeps: ({ services: { announcementAlarm }, job }) => [timesOfAnnouncements(announcementAlarm, () => job('announcements'))],
    resync: ({ services: { events, clock }, job }) => resyncAnnouncements(events, clock, (...between) => job('facts').announcements.changedSince(...between)),
    // A deleted one has an end as well.
    retention: () => [{ table: 'launcher.announcements', days: keptDays, old: 'o.ends_at < $1', order: 'o.ends_at' }],
  },
  search: { resolvers: searchResolvers },
  settings: { resolvers: settingsResolvers },
  household: {
    resolvers: householdResolvers,
    sweeps: ({ services: { invitationAlarm }, job }) => [
      invitationAlarm.sweep({ name: 'invitations to households', asksOthers: true }, () => settleInvitations(job('invitations'))),
    ],
  },
  'own-widget': { resolvers: ownWidgetResolvers },
  workspace: { resolvers: workspaceResolvers, handlers: workspaceHandlers },
}
