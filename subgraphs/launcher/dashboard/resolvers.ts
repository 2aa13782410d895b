import { newId } from '../../../platform/ids.ts'
import { checkVersion, write } from '../../store/write.ts'
import { activeOrganization, actorOf, requirePerson } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import type { LayoutOwner, LayoutRow } from '../stores/dashboard/dashboard-layout.ts'
import { arranged, type GivenLayout, shown } from './rules.ts'

const ownOf = ({ viewer }: Context): LayoutOwner => ({ organizationId: viewer.organizationId, userId: requirePerson(viewer) })

const line = (action: string, { id, organizationId, userId }: LayoutRow) => ({ tenantId: organizationId ?? userId!, action, subjectId: id })

/** Changes the layout of an owner; a person's first change begins with what is shown to them. */
async function update(
  context: Context,
  owner: LayoutOwner,
  action: string,
  { expectedVersion, ...given }: GivenLayout & { readonly expectedVersion?: number | null | undefined },
): Promise<LayoutRow> {
  const { viewer, dashboardLayouts } = context
  const inherited = owner.userId === null ? null : await dashboardLayouts.shownTo(owner)
  return write(context, {
    async run({ transaction, now }) {
      const present = await dashboardLayouts.lockOf(owner, transaction)
      checkVersion(present?.version ?? 0, expectedVersion, dashboardLayouts.what)
      const layout = arranged(present ?? inherited, given, now)
      if (present) return dashboardLayouts.update(present, { ...layout, updatedAt: now, version: present.version + 1 }, transaction) as Promise<LayoutRow>
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      return dashboardLayouts.insert({ id: newId(now), ...owner, ...layout, ...stamps }, transaction) as Promise<LayoutRow>
    },
    audit: row => line(action, row),
  })
}

async function reset(context: Context, expectedVersion: number | null | undefined): Promise<void> {
  const { dashboardLayouts } = context
  const owner = ownOf(context)
  await write(context, {
    async run({ transaction }) {
      const present = await dashboardLayouts.lockOf(owner, transaction)
      checkVersion(present?.version ?? 0, expectedVersion, dashboardLayouts.what)
      if (present) await dashboardLayouts.remove(present, transaction)
      return present
    },
    audit: row => line('dashboard_layout.deleted', row),
  })
}

export const dashboardResolvers: Resolvers = {
  Query: {
    dashboardLayout: async (_, __, context) => {
      const owner = ownOf(context)
      return shown(await context.dashboardLayouts.shownTo(owner), owner.userId)
    },
    organizationLayout: async (_, __, { viewer, dashboardLayouts }) => {
      const organizationId = activeOrganization(viewer, 'Layouts for everybody')
      return shown(await dashboardLayouts.of({ organizationId, userId: null }), null)
    },
  },
  Mutation: {
    updateDashboardLayout: async (_, { input }, context) => {
      const owner = ownOf(context)
      return shown(await update(context, owner, 'dashboard_layout.updated', input), owner.userId)
    },
    resetDashboardLayout: async (_, { input }, context) => {
      await reset(context, input.expectedVersion)
      const owner = ownOf(context)
      return shown(await context.dashboardLayouts.shownTo(owner), owner.userId)
    },
    updateOrganizationLayout: async (_, { input }, context) => {
      const organizationId = activeOrganization(context.viewer, 'Layouts for everybody')
      return shown(await update(context, { organizationId, userId: null }, 'organization_layout.updated', input), null)
    },
  },
}
