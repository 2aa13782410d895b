import type { Noun } from '../../wiring/define.ts'
import { methodSessionLooks } from '../engines/keeping/look.ts'
import { customerResolvers } from '../parties/customer/resolvers.ts'
import { merchantResolvers } from '../parties/merchant/resolvers.ts'
import { paymentMethodResolvers } from '../parties/payment-method/resolvers.ts'
import { paymentMethodSessionResolvers } from '../parties/payment-method-session/resolvers.ts'
import { venueResolvers } from '../parties/venue/resolvers.ts'
import type { At } from './services.ts'

/** Who sells, where, and to whom. */
export const partyNouns: Readonly<Record<string, Noun<At>>> = {
  'parties/customer': { resolvers: customerResolvers },
  'parties/merchant': { resolvers: merchantResolvers },
  'parties/venue': { resolvers: venueResolvers },
  'parties/payment-method': { resolvers: paymentMethodResolvers },
  'parties/payment-method-session': { resolvers: paymentMethodSessionResolvers, sweeps: ({ job }) => [methodSessionLooks(() => job('checkout'))] },
}
