import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { QueryPaymentReportArgs, Resolvers } from '../../resolvers.generated.ts'
import { attemptsOf, most, requireRows, requireSpan, shownRow, spanOf } from './rules.ts'

async function report({ viewer, merchants, reports }: Context, { from, to, groupBy, merchantId }: QueryPaymentReportArgs) {
  const organizationId = activeOrganization(viewer, 'Reports')
  requireSpan(from, to)
  const merchant = merchantId ? await merchants.require(merchantId, 'merchantId') : null
  const wanted = { organizationId, merchantId: merchant?.id ?? null, span: spanOf(from, to), limit: most.rows + 1 }
  return { rows: requireRows(await reports.sums(groupBy, wanted)).map(shownRow) }
}

export const reportResolvers: Resolvers = {
  Query: {
    paymentReport: (_, args, context) => report(context, args),
    async paymentAnalytics(_, { from, to }, { viewer, reports }) {
      const organizationId = activeOrganization(viewer, 'Reports')
      requireSpan(from, to)
      const wanted = { organizationId, merchantId: null, span: spanOf(from, to), limit: most.rows + 1 }
      const [attempts, days] = await Promise.all([reports.attempts(organizationId, from, to), reports.sums('DAY', wanted)])
      const byDay = requireRows(days).map(shownRow)
      return { ...attemptsOf(attempts), byDay: byDay.map(({ key, captured, orders }) => ({ day: key!, captured, count: orders })) }
    },
  },
}
