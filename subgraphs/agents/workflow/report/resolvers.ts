import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'

export const reportResolvers: Resolvers = {
  Query: {
    report: (_, { id }, { reports }) => reports.require(id),
    reports(_, { kind, ...page }, { viewer, reports }) {
      activeOrganization(viewer, 'Reports')
      return reports.filtered({ kind }, page)
    },
    workFeed(_, { kind, since, ...page }, { viewer, workFeed }) {
      activeOrganization(viewer, 'The work feed')
      return workFeed.filtered({ kind, at: since ? { since } : null }, page)
    },
  },
  Report: {
    __resolveReference: ({ id }, { reports }) => reports.byId.load(id),
    run: ({ runId }, _, { runs }) => runs.byId.load(runId),
    versions: ({ id }, _, { reports }) => reports.versions.load(id),
  },
  WorkFeedItem: {
    user: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
    run: ({ runId }, _, { runs }) => runs.find(runId),
    approval: ({ approvalId }, _, { approvals }) => approvals.find(approvalId),
  },
}
