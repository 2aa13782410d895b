import { currency, packages, unitMinorOf } from '../../engines/commerce/plans.ts'
import { hasSeats } from '../../engines/commerce/seats.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { appsOf } from '../../stores/commerce/entitlement.ts'
import { ownerOf } from '../../stores/installation.ts'

/** Returns the bundles, the smallest first. */
export const billingPlans = () =>
  packages.map(name => ({
    package: name,
    apps: appsOf[name],
    monthly: { amountMinor: unitMinorOf({ package: name, interval: 'MONTH' }), currency },
    yearly: { amountMinor: unitMinorOf({ package: name, interval: 'YEAR' }), currency },
  }))

export const billingPlanResolvers: Resolvers = {
  Query: {
    billingPlans,
    async entitlements(_, __, { viewer, entitlements, seats }) {
      const [rights, owner] = [await entitlements.rights(), ownerOf(viewer)]
      const storeApps = owner ? await entitlements.countStoreApps(owner) : 0
      const used = owner?.organizationId ? await seats.countHeld(owner.organizationId) : 0
      return {
        plan: rights.plan,
        platformApps: { limit: rights.limit, used: rights.apps.length },
        storeApps: { limit: null, used: storeApps },
        seats: { total: hasSeats(rights) ? rights.seats : 0, used },
        validUntil: rights.validUntil,
      }
    },
  },
}
