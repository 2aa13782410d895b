import { address, origin, signingSecrets, webhookSecrets } from './readers.ts'
import { type Start, setting } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** Where the pages of payments find the parts of the platform. */
export const paymentsAddresses = {
  auth: setting('PAYMENTS_AUTH_URL', origin, {
    fallback: null,
    without: '`PUBLIC_URL`',
    by: subgraphs,
    does: 'Origin where people who use payments sign in. Required in staging.',
  }),
  gateway: setting('PAYMENTS_GATEWAY_URL', origin, {
    fallback: null,
    without: '`PUBLIC_URL`',
    by: subgraphs,
    does: 'Origin of the provider gateway for payments. Required in staging.',
  }),
  app: setting('PAYMENTS_APP_URL', origin, {
    fallback: null,
    without: 'the first of `PAYMENTS_WEB_HOST`, else `PUBLIC_URL`',
    by: subgraphs,
    does: 'Origin of the payments pages. Required in staging.',
  }),
}

/** What the payment processor signs its events with. */
export const paymentsEvents = {
  stripe: setting('PAYMENTS_STRIPE_WEBHOOK_SECRETS', signingSecrets, {
    fallback: null,
    without: "no events are taken; the sandbox's in the demo",
    by: subgraphs,
    does: 'Signing secrets of the Stripe endpoint `/payments/api/webhooks/stripe`, comma-separated; several while one is changed.',
  }),
}

/** Where settlement hears what became of its batches. */
export const paymentsSettlement = {
  url: setting('SETTLEMENT_CALLBACK_URL', address, {
    fallback: null,
    without: "no batches are taken; the sandbox's in the demo",
    by: subgraphs,
    does: 'Address to which payments posts the states of settlement batches (Standard Webhooks).',
  }),
  secrets: setting('SETTLEMENT_CALLBACK_SECRETS', webhookSecrets, {
    fallback: null,
    without: "no batches are taken; the sandbox's in the demo",
    by: subgraphs,
    does: 'Secrets that sign those requests, comma-separated; several while one is changed: `whsec_` and at least 24 random bytes in base64.',
  }),
}
