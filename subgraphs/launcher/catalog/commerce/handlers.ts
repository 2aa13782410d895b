import type { Handlers } from '../../../http/handlers.ts'
import type { At } from '../../context.ts'
import { receiveEvent } from '../../engines/commerce/events.ts'
import { packages } from '../../engines/commerce/plans.ts'
import { oneOf, readForm, required } from '../../marketing/body.ts'
import { openPublicCheckout } from '../billing-checkout/resolvers.ts'
import { billingPlans } from '../billing-plan/resolvers.ts'

/** Routes of commerce that are no operations: events of the processor, and what needs no account. */
export const billingHandlers = ({ contexts, job, settings: { billing }, services: { billingAlarm, jobOf } }: At): Handlers => ({
  'GET /launcher/api/plans': async () => {
    const price = ({ amountMinor, currency }: { amountMinor: bigint; currency: string }) => ({ amountMinor: Number(amountMinor), currency })
    const plans = billingPlans().map(({ package: name, apps, monthly, yearly }) => ({
      ...{ package: name.toLowerCase(), apps, monthly: price(monthly), yearly: price(yearly) },
    }))
    return Response.json({ plans }, { headers: { 'cache-control': 'max-age=300' } })
  },
  'POST /launcher/api/webhooks/subscriptions': request => receiveEvent(job('processor'), billing.secrets, billingAlarm, request),
  'POST /launcher/api/checkout': async (request, viewer) => {
    const members = { package: 'text', interval: 'text', seats: 'number', email: 'text', solution: 'text' } as const
    const { package: name, interval, email, ...more } = await readForm(request, members)
    const input = {
      ...{ package: oneOf(name, [...packages, 'FREE_WORKSPACE'] as const, 'package'), email: required(email, 'email'), ...more },
      ...(interval !== undefined && { interval: oneOf(interval, ['MONTH', 'YEAR'] as const, 'interval') }),
    }
    return Response.json(await openPublicCheckout({ context: contexts.forRequest(viewer, request), job: jobOf('checkout') }, input), { status: 201 })
  },
})
