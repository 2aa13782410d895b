import { signingSecrets } from '../readers.ts'
import { setting } from '../setting.ts'

/** What the payment processor signs its events about bundles with. */
export const billing = {
  stripe: setting('LAUNCHER_STRIPE_WEBHOOK_SECRETS', signingSecrets, {
    fallback: null,
    without: "no events are taken; the sandbox's in the demo",
    by: ['all', 'subgraph'],
    does: 'Signing secrets of the Stripe endpoint `/launcher/api/webhooks/subscriptions`, comma-separated; several while one is changed.',
  }),
}
