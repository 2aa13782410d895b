import { mapEvents } from '../../../../platform/events.ts'
import { readId } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { runTopic } from '../../engines/run/announce.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { beginWith } from '../begin-with.ts'
import { cancelRun, resolveStep, retryRun, startRun } from './change.ts'
import { stepsInOrder } from './rules.ts'
import { replayRun, testRun } from './try.ts'

const failureOf = ({ failureCode, failureMessage }: { readonly failureCode: string | null; readonly failureMessage: string | null }) =>
  failureCode === null ? null : { code: failureCode, message: failureMessage! }

export const runResolvers: Resolvers = {
  Query: {
    run: (_, { id }, { runs }) => runs.require(id),
    runs(_, { workflowId, status, trigger, ...page }, { viewer, runs }) {
      activeOrganization(viewer, 'Runs')
      const isTrial = trigger ? null : false
      return runs.filtered({ workflowId: readId(workflowId, 'workflowId'), status, trigger, isTrial }, page)
    },
  },
  Mutation: {
    startRun: (_, { input }, context) => startRun(context, input),
    cancelRun: (_, { input }, context) => cancelRun(context, input),
    retryRun: (_, { input }, context) => retryRun(context, input),
    resolveStep: (_, { input }, context) => resolveStep(context, input),
    testRun: (_, { input }, context) => testRun(context, input),
    replayRun: (_, { input }, context) => replayRun(context, input),
  },
  Subscription: {
    runUpdated: {
      async subscribe(_, { runId }, context) {
        const { id, organizationId } = await context.runs.require(runId, 'runId')
        const changes = mapEvents(context.events.listen([runTopic(organizationId)]), event => (event.runId === id ? { runId: id } : undefined))
        return beginWith([{ runId: id }], changes)
      },
      // Read at each event, with the viewer's right to the run as it is then.
      resolve: ({ runId }: { runId: string }, _: unknown, { runs }: Context) => runs.byId.load(runId),
    },
  },
  Run: {
    __resolveReference: ({ id }, { runs }) => runs.byId.load(id),
    workflow: ({ workflowId }, _, { workflows }) => workflows.find(workflowId),
    plan: ({ planId }, _, { plans }) => plans.byId.load(planId),
    failure: run => (run.status === 'FAILED' && run.failureCode ? { ...failureOf(run)!, stepKey: run.failureStepKey! } : null),
    async steps(run, _, { plans, steps }) {
      const [plan, begun] = await Promise.all([plans.byId.load(run.planId), steps.manyBy('runId').load(run.id)])
      return stepsInOrder(run, plan?.steps ?? [], begun)
    },
    costMicros: async ({ id }, _, { modelCalls }) => (await modelCalls.ofRun.load(id)).costMicros,
    async tokens({ id }, _, { modelCalls }) {
      const { inputTokens: input, outputTokens: output } = await modelCalls.ofRun.load(id)
      return { input, output }
    },
    parent: ({ parentId }, _, { runs }) => runs.find(parentId),
    itemIndex: ({ itemIndex }) => (itemIndex === null ? null : Number(itemIndex)),
    startedBy: ({ startedById }) => (startedById ? { __typename: 'User', id: startedById } : null),
  },
  Step: {
    async policy({ policyId }, _, { policyRequests }) {
      const request = await policyRequests.find(policyId)
      if (!request) return null
      const { id: requestId, counterparty, actionHash, decision, reason, decidedAt, expiresAt } = request
      return { requestId, counterparty, actionHash, decision, reason, decidedAt, expiresAt }
    },
    failure: failureOf,
    approval: ({ approvalId }, _, { approvals }) => approvals.find(approvalId),
    childRuns: ({ id, kind, rounds }, page, { mappedRuns }) => (kind === 'MAP' || rounds ? mappedRuns.filtered({ parentStepId: id }, page) : null),
    childRun: ({ childRunId }, _, { runs }) => runs.find(childRunId),
  },
}
