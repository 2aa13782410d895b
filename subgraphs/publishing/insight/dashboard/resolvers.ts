import { dayAfter, localTime, startOfDay, weekdayOf } from '../../../../platform/clock.ts'
import { readId } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'

/** Returns today and its week in a time zone. */
export function daysOf(zone: string, now: Date): { dayFrom: Date; dayTo: Date; weekFrom: Date } {
  const { day } = localTime(zone, now)
  return { dayFrom: startOfDay(zone, day), dayTo: startOfDay(zone, dayAfter(day, 1)), weekFrom: startOfDay(zone, dayAfter(day, -weekdayOf(day))) }
}

export const dashboardResolvers: Resolvers = {
  Query: {
    async publishingDashboard(_, { brandId }, { viewer, brands, dashboard, clock }) {
      const organizationId = activeOrganization(viewer, 'Dashboards')
      const wanted = readId(brandId, 'brandId')
      const brand = wanted === null ? null : await brands.require(wanted, 'brandId')
      return dashboard.of.load({ organizationId, brandId: wanted, ...daysOf(brand?.timeZone ?? 'UTC', clock.now()) })
    },
  },
  PublishingDashboard: {
    attentionIds: ({ attention }) => attention.map(({ id }) => id),
    nextIds: ({ next }) => next.map(({ id }) => id),
  },
}
