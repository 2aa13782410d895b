import { DomainError } from '../../../../platform/errors.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { requireMail, visitorsTenant } from '../../marketing/lead/rules.ts'
import { submit } from '../../marketing/lead/submit.ts'
import type { CreatePublicCheckoutInput, Resolvers } from '../../resolvers.generated.ts'
import type { BillingCheckoutRow } from '../../stores/commerce/checkout.ts'
import { readReturnTo, requireBillingManager } from '../billing/billing-manager.ts'
import { readSeats } from '../billing/rules.ts'
import { type Opening, openCheckout } from './open.ts'

/** What public pages are opened with: jobs, because a visitor sees no checkouts. */
export interface PublicOpening {
  readonly context: Parameters<typeof submit>[0] & { readonly dashboardUrl: string }
  readonly job: Opening
}

/** Opens a page for somebody without an account: a lead owns what is bought there. */
export async function openPublicCheckout({ context, job }: PublicOpening, input: CreatePublicCheckoutInput): Promise<{ url: string; expiresAt: Date }> {
  const name = input.package
  const isFree = name === 'FREE_WORKSPACE'
  const seats = isFree ? 1 : readSeats(input.seats ?? 1)
  const interval = isFree ? ('YEAR' as const) : (input.interval ?? 'MONTH')
  const lead = await submit(context, { input, read: () => ({ kind: 'CHECKOUT', email: requireMail(input.email), seats, product: name.toLowerCase() }) })
  const { url, expiresAt } = await openCheckout(job, {
    owner: { ownerType: 'LEAD', ownerId: lead.id },
    offer: { kind: isFree ? 'FREE_WORKSPACE' : 'BUNDLE', package: name, interval, seats },
    returnTo: readReturnTo('/login?sign_up=1', context.dashboardUrl),
    ...{ actor: 'anonymous', email: lead.email, tenantId: visitorsTenant },
    once: { idempotencyKey: `checkout of lead ${lead.id}` },
  })
  if (url && expiresAt) return { url, expiresAt }
  throw new DomainError('CONFLICT', 'This page is paid or over: begin anew.', { reason: 'SUBSCRIBED' })
}

const open = (context: Context, wanted: Pick<Parameters<typeof openCheckout>[1], 'offer' | 'once'>, returnTo: string): Promise<BillingCheckoutRow> => {
  const { owner } = requireBillingManager(context.viewer)
  const back = readReturnTo(returnTo, context.dashboardUrl)
  return openCheckout(context, { ...wanted, owner, returnTo: back, actor: actorOf(context.viewer), tenantId: owner.ownerId })
}

export const billingCheckoutResolvers: Resolvers = {
  Mutation: {
    createBundleCheckout: async (_, { input }, context) => {
      requireBillingManager(context.viewer)
      const offer = { kind: 'BUNDLE', package: input.package, interval: input.interval ?? 'MONTH', seats: readSeats(input.seats ?? 1) } as const
      return open(context, { offer, once: input }, input.returnTo)
    },
    createFreeWorkspaceCheckout: (_, { input }, context) =>
      open(context, { offer: { kind: 'FREE_WORKSPACE', package: 'FREE_WORKSPACE', interval: 'YEAR', seats: 1 }, once: input }, input.returnTo),
    createPublicCheckout: (_, { input }, context) => openPublicCheckout({ context, job: context.jobOf('checkout') }, input),
  },
}
