import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import type { OrderStatus } from '../../stores/order.ts'

/** In the order in which an order comes by them. */
export const orderStatuses = ['DRAFT', 'PENDING', 'PAID', 'PARTIALLY_REFUNDED', 'REFUNDED', 'CANCELLED', 'FAILED'] as const satisfies readonly OrderStatus[]

export const overviewResolvers: Resolvers = {
  Query: {
    async paymentsOverview(_, __, { viewer, overview }) {
      const organizationId = activeOrganization(viewer, 'The overview')
      const [counts, found] = await Promise.all([overview.counts(organizationId), overview.orders(organizationId)])
      const orders = orderStatuses.map(status => ({ status, count: found.find(each => each.status === status)?.count ?? 0 }))
      return { ...counts, orders }
    },
  },
}
