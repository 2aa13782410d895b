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
    does: 'Where OpenAI is called, `/v1` included.',
  }),
  anthropic: setting('ANTHROPIC_API_URL', address, {
    fallback: null,
    without: otherwise('https://api.anthropic.com'),
    by: subgraphs,
    does: 'Where Anthropic is called, without `/v1`.',
  }),
  google: setting('GOOGLE_AI_API_URL', address, {
    fallback: null,
    without: '`https://generativelanguage.googleapis.com/v1beta/openai`',
    by: subgraphs,
    does: "Where Google's models are called: the address that speaks OpenAI's wire.",
  }),
  stripe: setting('STRIPE_API_URL', address, {
    fallback: null,
    without: otherwise('https://api.stripe.com/v1'),
    by: subgraphs,
    does: 'Where Stripe is called, `/v1` included.',
  }),
  youtube: setting('YOUTUBE_API_URL', address, {
    fallback: null,
    without: otherwise('https://www.googleapis.com'),
    by: subgraphs,
    does: 'What `youtube/v3/…` and `upload/youtube/v3/…` stand under.',
  }),
  modelsDev: setting('MODELS_DEV_URL', address, {
    fallback: null,
    without: otherwise('https://models.dev'),
    by: subgraphs,
    does: 'The open catalogue of models: its `/api.json` is read at the start and every six hours.',
  }),
  aiGatewayUrl: setting('AI_GATEWAY_URL', address, {
    fallback: null,
    by: subgraphs,
    does: "The hosting platform's gateway to models, `https://gateway.ai.cloudflare.com/v1/ACCOUNT/GATEWAY`: vendors of models are called through it, under `/openai`, `/anthropic` and `/google-ai-studio`. Answers and the log of calls stay the same.",
  }),
  aiGatewayToken: setting('AI_GATEWAY_TOKEN', text, {
    fallback: null,
    by: subgraphs,
    does: 'Shown to that gateway with every call, as `cf-aig-authorization: Bearer …`.',
  }),
  studio: setting('STUDIO_URL', address, {
    fallback: null,
    without: "none; the sandbox's in the demo",
    by: ['all', 'subgraph', 'router'],
    does: 'Who issues the tokens of the site-builder studio: its keys are at `/.well-known/jwks.json` below. Without it none of its tokens is good.',
  }),
}

/** What calls of providers cost where no model has a price, in whole micro-dollars. */
export const prices = {
  email: setting('EMAIL_MICROS', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'What a mail counts in spend limits once it is accepted, in micro-dollars (a millionth of a US dollar).',
  }),
  payment: setting('PAYMENT_MICROS', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'What a call of the payment processor counts in spend limits, in micro-dollars.',
  }),
  videoUnit: setting('VIDEO_UNIT_MICROS', quota, {
    fallback: 10,
    by: subgraphs,
    does: "What a unit of a video network's quota counts in spend limits, in micro-dollars.",
  }),
}

/** How long models may take. */
export const aiTimes = {
  firstByteMs: setting('AI_FIRST_BYTE_MS', milliseconds, {
    fallback: 60_000,
    by: subgraphs,
    does: 'Milliseconds until a model must have begun to answer, a connection included: else the next of the chain is asked. A call may shorten it by `X-Gateway-Timeout-Ms`.',
  }),
  idleMs: setting('AI_IDLE_MS', milliseconds, {
    fallback: 30_000,
    by: subgraphs,
    does: 'Milliseconds that may pass between two pieces of its answer: else the call is given up, or, before anything of it was handed on, the next is asked. Less than the 60 s after which most proxies cut a connection on which nothing moves.',
  }),
  totalMs: setting('AI_TOTAL_MS', milliseconds, {
    fallback: 600_000,
    by: subgraphs,
    does: 'Milliseconds for a call in all, however many models are asked. More than ten minutes are of no use: routers wait no longer, and after 15 what was held back for a call is let go of.',
  }),
}

/** Mail that organizations and services send by the gateway. */
export const email = {
  dnsServers: setting('DNS_SERVERS', dnsServers, {
    fallback: null,
    without: "those of the machine; the sandbox's in the demo",
    by: subgraphs,
    does: 'Servers of DNS that are asked for the records of sender domains, `192.0.2.53,[2001:db8::53]:5353`.',
  }),
  eventsSecret: setting('EMAIL_EVENTS_SECRET', webhookSecret, {
    fallback: null,
    without: "no reports are taken; the sandbox's in the demo",
    by: ['all', 'subgraph', 'apart'],
    does: 'With what the provider of mail signs its reports to `/providers/api/email/events` (Standard Webhooks): `whsec_` and at least 24 random bytes in base64.',
  }),
  domain: setting('EMAIL_DOMAIN', domainName, {
    fallback: null,
    without: 'the host of `PUBLIC_URL`',
    by: subgraphs,
    does: 'Where the operator publishes whose servers send mail (a TXT record of SPF at `_spf.` below it) and where returned mail goes (`bounces.` below it): records of sender domains lead there.',
  }),
  days: setting('EMAIL_RETENTION_DAYS', days(8), {
    fallback: 90,
    without: '`90`, at least `8`',
    by: subgraphs,
    does: 'For how many days mails of the gateway are on record: to whom, their subjects, and what became of them. Their text is kept until they have left. That a key has sent one is known for ever.',
  }),
}
