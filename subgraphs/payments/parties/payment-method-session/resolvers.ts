import { requireId } from '../../../../platform/ids.ts'
import { type Hold, makeHeld } from '../../../store/claim.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { readReturnAddress } from '../../engines/checkout/rules.ts'
import { openMethodPage, recordMethodSession } from '../../engines/keeping/open.ts'
import type { CreatePaymentMethodSessionInput, Resolvers } from '../../resolvers.generated.ts'
import { requireKept } from '../../stores/parties/customer.ts'
import type { PaymentMethodSessionRow } from '../../stores/parties/payment-method-session.ts'

/** Opens a session and its page at the processor, once for each key. */
async function createSession(context: Context, input: CreatePaymentMethodSessionInput): Promise<PaymentMethodSessionRow> {
  const { viewer, customers, settings } = context
  const tenantId = activeOrganization(viewer, 'Payment method sessions')
  const customerId = requireId(input.customerId, 'customerId')
  const addresses = { successUrl: readReturnAddress(input.successUrl, 'successUrl'), cancelUrl: readReturnAddress(input.cancelUrl, 'cancelUrl') }
  requireKept(await customers.require(customerId, 'customerId'))
  const { checkoutMinutes: minutes } = await settings.of(tenantId)
  const job = context.jobFor(actorOf(viewer))
  const find = (id: string) => job.paymentMethodSessions.byId.load(id)
  const { row } = await makeHeld<PaymentMethodSessionRow>(context, {
    ...{ what: 'createPaymentMethodSession', tenantId, once: input, find },
    async make({ id, isResumed }: Hold) {
      // A process that died had recorded it: the same call to the processor opens the same page.
      const isRecorded = isResumed && (await find(id)) !== null
      if (!isRecorded) await recordMethodSession(context, { id, customerId, minutes, ...addresses })
      await job.underway.run(() => openMethodPage(job, id))
      return (await find(id))!
    },
  })
  return row
}

export const paymentMethodSessionResolvers: Resolvers = {
  Query: {
    paymentMethodSession: (_, { id }, { paymentMethodSessions }) => paymentMethodSessions.require(id),
  },
  Mutation: {
    createPaymentMethodSession: (_, { input }, context) => createSession(context, input),
  },
  PaymentMethodSession: {
    __resolveReference: ({ id }, { paymentMethodSessions }) => paymentMethodSessions.byId.load(id),
    url: ({ status, url }) => (status === 'OPEN' ? url : null),
    paymentMethod: ({ paymentMethodId }, _, { paymentMethods }) => paymentMethods.find(paymentMethodId),
  },
}
