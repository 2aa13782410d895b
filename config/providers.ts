import { address, days, dnsServers, domainName, milliseconds, quota, text, webhookSecret } from './readers.ts'
import { type Start, setting } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

const otherwise = (real: string): string => `\`${real}\`; the sandbox's in the demo`

/** Where the gateway to providers finds third parties. */
export const providerAddresses = {
  openai: setting('OPENAI_API_URL', address, {
    fallback: null,
    without: otherwise('https://api.openai.com/v1'),
    by: subgraphs,
    does: 'Address of OpenAI, including `/v1`.',
  }),
  anthropic: setting('ANTHROPIC_API_URL', address, {
    fallback: null,
    without: otherwise('https://api.anthropic.com'),
    by: subgraphs,
    does: 'Address of Anthropic, without `/v1`.',
  }),
  google: setting('GOOGLE_AI_API_URL', address, {
    fallback: null,
    without: '`https://generativelanguage.googleapis.com/v1beta/openai`',
    by: subgraphs,
    does: "Address of Google's OpenAI-compatible API.",
  }),
  stripe: setting('STRIPE_API_URL', address, {
    fallback: null,
    without: otherwise('https://api.stripe.com/v1'),
    by: subgraphs,
    does: 'Address of Stripe, including `/v1`.',
  }),
  youtube: setting('YOUTUBE_API_URL', address, {
    fallback: null,
    without: otherwise('https://www.googleapis.com'),
    by: subgraphs,
    does: 'Address of YouTube, without `youtube/v3`.',
  }),
  modelsDev: setting('MODELS_DEV_URL', address, {
    fallback: null,
    without: otherwise('https://models.dev'),
    by: subgraphs,
    does: 'Open model catalogue, read at the start and every six hours.',
  }),
  aiGatewayUrl: setting('AI_GATEWAY_URL', address, {
    fallback: null,
    by: subgraphs,
    does: 'AI gateway of your hosting platform, `https://gateway.ai.cloudflare.com/v1/ACCOUNT/GATEWAY`. Model vendors are called through it.',
  }),
  aiGatewayToken: setting('AI_GATEWAY_TOKEN', text, {
    fallback: null,
    by: subgraphs,
    does: 'Token for that gateway, sent as `cf-aig-authorization`.',
  }),
  studio: setting('STUDIO_URL', address, {
    fallback: null,
    without: "none; the sandbox's in the demo",
    by: ['all', 'subgraph', 'router'],
    does: 'Token issuer of the site-builder studio, with `/.well-known/jwks.json`. Without it its tokens are refused.',
  }),
}

/** What calls of providers cost where no model has a price, in whole micro-dollars. */
export const prices = {
  email: setting('EMAIL_MICROS', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'Cost of an accepted mail in spend limits, in micro-dollars.',
  }),
  payment: setting('PAYMENT_MICROS', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'Cost of a payment processor call in spend limits, in micro-dollars.',
  }),
  videoUnit: setting('VIDEO_UNIT_MICROS', quota, {
    fallback: 10,
    by: subgraphs,
    does: 'Cost of a video quota unit in spend limits, in micro-dollars.',
  }),
}

/** How long models may take. */
export const aiTimes = {
  firstByteMs: setting('AI_FIRST_BYTE_MS', milliseconds, {
    fallback: 60_000,
    by: subgraphs,
    does: 'Limit until a model begins to answer, then the next of the chain is tried. Callers may shorten it with `X-Gateway-Timeout-Ms`.',
  }),
  idleMs: setting('AI_IDLE_MS', milliseconds, {
    fallback: 30_000,
    by: subgraphs,
    does: "Limit between two pieces of an answer, then the next model is tried or the call fails. Keep it below your proxy's idle timeout (often 60 s).",
  }),
  totalMs: setting('AI_TOTAL_MS', milliseconds, {
    fallback: 600_000,
    by: subgraphs,
    does: 'Limit of a call over all models. Values over 600000 have no effect: routers wait no longer.',
  }),
}

/** Mail that organizations and services send by the gateway. */
export const email = {
  dnsServers: setting('DNS_SERVERS', dnsServers, {
    fallback: null,
    without: "those of the machine; the sandbox's in the demo",
    by: subgraphs,
    does: 'DNS servers for checking sender domains: `192.0.2.53,[2001:db8::53]:5353`.',
  }),
  eventsSecret: setting('EMAIL_EVENTS_SECRET', webhookSecret, {
    fallback: null,
    without: "no reports are taken; the sandbox's in the demo",
    by: ['all', 'subgraph', 'apart'],
    does: 'Secret with which your mail provider signs reports to `/providers/api/email/events` (Standard Webhooks): `whsec_` and at least 24 random bytes in base64.',
  }),
  domain: setting('EMAIL_DOMAIN', domainName, {
    fallback: null,
    without: 'the host of `PUBLIC_URL`',
    by: subgraphs,
    does: 'Domain with your SPF record at `_spf.` and your return address at `bounces.`; records of sender domains refer to it.',
  }),
  days: setting('EMAIL_RETENTION_DAYS', days(8), {
    fallback: 90,
    without: '`90`, at least `8`',
    by: subgraphs,
    does: 'Days for which gateway mails stay on record (recipients, subjects, outcome). Their text is deleted once they have left.',
  }),
}
