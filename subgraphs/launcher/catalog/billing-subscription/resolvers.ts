import { newId } from '../../../../platform/ids.ts'
import type { Context } from '../../context.ts'
import { currency, titleOf, unitMinorOf } from '../../engines/commerce/plans.ts'
import type { QueryBillingPreviewArgs, Resolvers } from '../../resolvers.generated.ts'
import { readReturnTo, requireBillingManager } from '../billing/billing-manager.ts'
import { keyAtProcessor, notSubscribed, readSeats } from '../billing/rules.ts'
import { claim, claimable, claimableVerifications, claimVerification } from './claim.ts'

async function preview({ viewer, billingSubscriptions, billingPrices, billingProcessor }: Context, args: QueryBillingPreviewArgs) {
  const { owner } = requireBillingManager(viewer)
  const interval = args.interval ?? 'MONTH'
  const quantity = readSeats(args.seats ?? 1)
  const unitMinor = unitMinorOf({ package: args.package, interval })
  const recurring = { amountMinor: unitMinor * BigInt(quantity), currency }
  const [standing] = await billingSubscriptions.standingOf(owner)
  if (!standing) return { dueNow: recurring, recurring, lines: [{ description: titleOf(args.package), quantity, amount: recurring }] }
  const priceId = await billingProcessor.priceOf({ package: args.package, interval, unitMinor, currency }, billingPrices)
  const { processorSubscriptionId: subscriptionId, processorItemId: itemId } = standing
  const { dueNow, lines } = await billingProcessor.preview({ subscriptionId, itemId, priceId, quantity })
  return { dueNow, recurring, lines: [...lines] }
}

export const billingSubscriptionResolvers: Resolvers = {
  Query: {
    billingSubscriptions: (_, __, { viewer, billingSubscriptions }) => billingSubscriptions.ofOwner(requireBillingManager(viewer).owner),
    workspaceVerifications: (_, __, { viewer, workspaceVerifications }) => workspaceVerifications.ofOwner(requireBillingManager(viewer).owner),
    claimableSubscriptions: async (_, __, context) => [...(await claimable(context))],
    claimableVerifications: async (_, __, context) => [...(await claimableVerifications(context))],
    billingPreview: (_, args, context) => preview(context, args),
  },
  Mutation: {
    claimBillingSubscription: (_, { input }, context) => claim(context, input.id),
    claimWorkspaceVerification: (_, { input }, context) => claimVerification(context, input.id),
    async createBillingPortal(_, { input }, { viewer, clock, dashboardUrl, billingSubscriptions, workspaceVerifications, billingProcessor }) {
      const { owner } = requireBillingManager(viewer)
      const returnUrl = readReturnTo(input.returnTo, dashboardUrl)
      const [standing] = [...(await billingSubscriptions.standingOf(owner)), ...(await workspaceVerifications.standingOf(owner))]
      if (!standing) throw notSubscribed()
      const key = `launcher-portal:${owner.ownerId}:${keyAtProcessor(input) ?? newId(clock.now())}`
      return { url: await billingProcessor.openPortal(standing.processorCustomerId, returnUrl, key) }
    },
  },
  BillingSubscription: {
    __resolveReference: ({ id }, { billingSubscriptions }) => billingSubscriptions.byId.load(id),
    amount: ({ unitMinor, seats, currency }) => ({ amountMinor: BigInt(unitMinor) * BigInt(seats), currency }),
  },
  WorkspaceVerification: {
    amount: ({ unitMinor, currency }) => ({ amountMinor: BigInt(unitMinor), currency }),
  },
}
