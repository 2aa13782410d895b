import { isPerson } from '../../../viewer.ts'
import { requireOwner } from '../../action-item/rules.ts'
import type { Context } from '../../context.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { dayOf, payload } from './rules.ts'

async function figuresOf({ viewer, actionItems, notifications, installations, launches, clock }: Context) {
  requireOwner(viewer)
  const owner = isPerson(viewer) ? { organizationId: viewer.organizationId, userId: viewer.userId } : null
  const [{ open }, unread, installed, launched] = await Promise.all([
    actionItems.counts(),
    owner ? notifications.unread(owner) : 0,
    installations.standing(),
    owner ? launches.countSince(owner, dayOf(clock.now())) : 0,
  ])
  return { openActions: open, unreadNotifications: unread, installedApps: installed.size, launchesToday: launched }
}

export const ownWidgetResolvers: Resolvers = {
  Query: {
    launcherWidget: async (_, __, context) => payload(await figuresOf(context), context.dashboardUrl),
  },
}
