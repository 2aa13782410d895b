import { priceIds, signingSecrets } from '../readers.ts'
import { setting } from '../setting.ts'

/** What the payment processor signs its events about bundles with. */
export const billing = {
  stripe: setting('LAUNCHER_STRIPE_WEBHOOK_SECRETS', signingSecrets, {
    fallback: null,
    without: "no events are taken; the sandbox's in the demo",
    by: ['all', 'subgraph'],
    does: 'Signing secrets of the Stripe endpoint `/launcher/api/webhooks/subscriptions`, comma-separated; several while one is changed.',
  }),
  prices: setting('BILLING_PRICES', priceIds, {
    fallback: null,
    without: 'prices are made at the processor, once each',
    by: ['all', 'subgraph'],
    does: 'JSON file with ids of prices that stand at the payment processor, by package and interval: `{"three":{"month":"price_…","year":"price_…"},"free_workspace":{"year":"price_…"}}`. Their amounts have to be those of `GET /launcher/api/plans`; what the file leaves out is made at the processor.',
  }),
}
