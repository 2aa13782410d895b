import { mapEvents } from '../../../../platform/events.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { approvalTopic } from '../../engines/run/announce.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { beginWith } from '../begin-with.ts'
import { decideApproval } from './change.ts'
import { createApprovalLink } from './link.ts'
import { deciderOf } from './rules.ts'

export const approvalResolvers: Resolvers = {
  Query: {
    approval: (_, { id }, { approvals }) => approvals.require(id),
    approvals(_, { status, ...page }, { viewer, approvals }) {
      activeOrganization(viewer, 'Approvals')
      return approvals.filtered({ status }, page)
    },
  },
  Mutation: {
    decideApproval: (_, { input }, context) => decideApproval(context, input),
    createApprovalLink: (_, { input }, context) => createApprovalLink(context, input),
  },
  Subscription: {
    approvalUpdated: {
      async subscribe(_, __, { viewer, events, approvals }) {
        const organizationId = activeOrganization(viewer, 'Approvals')
        const changes = mapEvents(events.listen([approvalTopic(organizationId)]), event => ({ approvalId: event.approvalId! }))
        const pending = await approvals.pending(organizationId)
        return beginWith(
          pending.map(({ id }) => ({ approvalId: id })),
          changes,
        )
      },
      resolve: ({ approvalId }: { approvalId: string }, _: unknown, { approvals }: Context) => approvals.byId.load(approvalId),
    },
  },
  Approval: {
    __resolveReference: ({ id }, { approvals }) => approvals.byId.load(id),
    decisions: ({ decisions }) =>
      decisions.map(each => {
        const userId = deciderOf(each)
        return { ...each, argumentsHash: each.argumentsHash ?? null, at: new Date(each.at), user: userId ? { __typename: 'User' as const, id: userId } : null }
      }),
    connector: ({ connectorId }, _, { connectors }) => connectors.find(connectorId),
    approvers: ({ approverIds }) => approverIds?.map(id => ({ __typename: 'User' as const, id })) ?? null,
    run: ({ runId }, _, { runs }) => runs.byId.load(runId),
    step: ({ stepId }, _, { steps }) => steps.byId.load(stepId),
  },
}
