import { agentsNeighbours, publicChat } from './agents.ts'
import { documents, operations, overrides, rates, responseCache, streams, supergraphs, usage } from './asking.ts'
import { hosts } from './hosts.ts'
import { accounts, foreignIssuer, registry } from './identity.ts'
import { billing } from './launcher/billing.ts'
import { marketing } from './launcher/marketing.ts'
import { mobileBuilds } from './launcher/mobile.ts'
import { notifications } from './launcher/notifications.ts'
import { networkFamilies } from './networks.ts'
import { objects } from './objects.ts'
import { paymentsAddresses, paymentsEvents, paymentsSettlement } from './payments.ts'
import { aiTimes, email, prices, providerAddresses } from './providers.ts'
import { quotas, retention } from './quotas.ts'
import {
  address,
  addresses,
  appTokens,
  atLeast,
  dnsServers,
  flag,
  headerNames,
  hostNames,
  keys,
  mailbox,
  milliseconds,
  nats,
  oneKey,
  oneOf,
  origin,
  origins,
  port,
  postgres,
  proxies,
  share,
  smtp,
  text,
  whole,
} from './readers.ts'
import { eachService, serviceTokens } from './services.ts'
import { type Family, type Start, setting } from './setting.ts'

// Every setting is declared here once, in a row of its family: `readConfig` reads it, `--help` and
// docs/operating/configuration.md describe it.

const everything: readonly Start[] = ['all', 'router', 'subgraph']
const doors: readonly Start[] = ['all', 'router']
const subgraphs: readonly Start[] = ['all', 'subgraph']

/** Where a process is, and who reaches it. */
export const place = {
  environment: setting('ENVIRONMENT', oneOf('development', 'staging', 'production'), {
    fallback: 'development',
    by: everything,
    does: '`development`, `staging` or `production`. Outside development no secret is generated and clients do not see the text of internal errors. In production introspection and suggestions are off. Independent of `NODE_ENV`.',
  }),
  host: setting('HOST', text, {
    fallback: 'localhost',
    by: everything,
    does: 'Name or address to listen on. A loopback name means IPv4 and IPv6; `0.0.0.0` means every interface.',
  }),
  port: setting('PORT', port, { fallback: 4000, by: everything, does: 'Port to listen on. A subgraph of its own uses its port from `supergraph.yaml`.' }),
  sharePort: setting('SHARE_PORT', flag, {
    fallback: false,
    by: ['router'],
    does: '`1`: several routers on one machine listen on the same port and the kernel distributes connections (Linux). `start:apart` sets it. With `--workers`, the workers share the port.',
  }),
  publicUrl: setting('PUBLIC_URL', origin, {
    fallback: null,
    without: '`http://localhost:$PORT`',
    by: everything,
    does: 'Origin that clients use. Absolute links, the token issuer and callback addresses of networks start with it.',
  }),
  corsOrigins: setting('CORS_ORIGINS', origins, {
    fallback: [],
    by: everything,
    does: 'Other origins whose pages may use the platform, with cookies: `https://app.example.com,https://admin.example.com`. No patterns; list only pages that you run. See [CORS and cookies](#cors-and-cookies).',
  }),
  productionHosts: setting('PRODUCTION_HOSTS', hostNames, {
    fallback: [],
    by: everything,
    does: 'Hosts of production, for staging: `api.example.com,db.example.com:5432`. Staging does not start when an address setting names one of them. A host with a port matches that port only.',
  }),
  trustProxy: setting('TRUST_PROXY', proxies, {
    fallback: false,
    by: doors,
    does: 'Addresses and networks of your proxies, `10.0.0.0/8,192.168.1.7`, whose `X-Forwarded-For` is believed. `1` believes every sender: the proxy must then replace the header. See [Behind a proxy](production.md#behind-a-proxy).',
  }),
  logLevel: setting('LOG_LEVEL', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    fallback: null,
    without: '`warn` in development, else `info`',
    by: everything,
    does: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
  }),
}

/** Where traces go (OpenTelemetry). */
export const tracing = {
  endpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', origin, {
    fallback: null,
    without: 'no traces',
    by: everything,
    does: 'Collector for OTLP over HTTP, `http://localhost:4318`. `OTEL_EXPORTER_OTLP_HEADERS` applies as OpenTelemetry defines it.',
  }),
  share: setting('OTEL_TRACES_SAMPLER_ARG', share, {
    fallback: 0.1,
    by: everything,
    does: 'Share of traces that are kept, 0 to 1. Use the same value in every process.',
  }),
  service: setting('OTEL_SERVICE_NAME', text, {
    fallback: 'supergraph',
    without: '`supergraph`; apart `supergraph-router`, `supergraph-publishing`, …',
    by: everything,
    does: '`service.name` of this process. `start:apart` puts `-router`, `-publishing` and so on behind it.',
  }),
}

/** What is kept, and where. */
export const storage = {
  dataDir: setting('DATA_DIR', text, {
    fallback: '.data',
    by: [...everything, 'apart'],
    does: 'Folder of the embedded database, generated keys, sandbox state and the set-up link; for `start:router --supergraph` also of the kept supergraph.',
  }),
  databaseUrl: setting('DATABASE_URL', postgres, {
    fallback: null,
    by: subgraphs,
    does: 'Your own PostgreSQL, 16 or later, instead of the embedded one. Its user owns the database or may create schemas in it. TLS: `?sslmode=verify-full&sslrootcert=FILE`.',
  }),
}

/** What nobody else may know. */
export const secrets = {
  authSecret: setting('AUTH_SECRET', atLeast(32), {
    fallback: null,
    without: 'generated in development',
    by: subgraphs,
    does: 'Signs session cookies; at least 32 characters. A new value ends every session and creates a new signing key.',
  }),
  metricsToken: setting('METRICS_TOKEN', atLeast(16), {
    fallback: null,
    by: everything,
    does: 'Bearer token that lets other machines read `/metrics`; at least 16 characters.',
  }),
  encryptionKeys: setting('ENCRYPTION_KEYS', keys, {
    fallback: null,
    without: 'generated in development',
    by: subgraphs,
    does: '`k1:<32 bytes in base64>,…`: the first key encrypts, all decrypt. See [Encryption keys](security.md#encryption-keys).',
  }),
}

/** Settings by which the router and distributed subgraphs identify callers to each other. */
export const seal = {
  appTokens: setting('APP_SERVICE_TOKENS', appTokens, {
    fallback: null,
    without: 'generated in development',
    by: everything,
    does: 'Tokens of services, `app_publishing:…,app_agents:…`, at least 32 characters each; an app may have several. Routers need all of them, a subgraph of its own needs its own. See [Service tokens](services.md#service-tokens).',
  }),
  privateKey: setting('SEAL_PRIVATE_KEY', oneKey, {
    fallback: null,
    by: ['router'],
    does: 'Key with which a router signs the viewer for subgraphs. `npm run --silent seal:keys` prints a pair.',
  }),
  publicKeys: setting('SEAL_PUBLIC_KEYS', keys, {
    fallback: null,
    by: ['subgraph'],
    does: 'Keys of routers that a subgraph accepts, `k1:…,k2:…`.',
  }),
}

/** What is there to try the platform with. */
export const demo = {
  wanted: setting('DEMO', flag, {
    fallback: null,
    without: 'on in development where `HOST` and `PUBLIC_URL` are loopback',
    by: everything,
    does: 'Demo accounts, demo data, the sandbox and printed passwords. `1` enables them elsewhere, staging included; production refuses it. See [Demo accounts](production.md#demo-accounts).',
  }),
  sandboxPort: setting('SANDBOX_PORT', port, {
    fallback: null,
    without: '`PORT` + 100',
    by: ['all', 'apart'],
    does: 'Port of the sandbox; a free one if it is taken.',
  }),
  sandboxSmtpPort: setting('SANDBOX_SMTP_PORT', port, {
    fallback: null,
    without: '`PORT` + 125',
    by: ['all', 'apart'],
    does: "Port of the sandbox's mail server; a free one if it is taken or `SANDBOX_PORT` is 0.",
  }),
  sandboxDnsPort: setting('SANDBOX_DNS_PORT', port, {
    fallback: null,
    without: '`PORT` + 126',
    by: ['all', 'apart'],
    does: "Port of the sandbox's DNS server (UDP and TCP); a free one if it is taken or `SANDBOX_PORT` is 0.",
  }),
  sandboxFolder: setting('SANDBOX_DIR', text, {
    fallback: null,
    by: everything,
    does: 'Folder of a sandbox that runs as a process of its own.',
  }),
}

/** How mails leave. */
export const mail = {
  smtpUrl: setting('SMTP_URL', smtp, {
    fallback: null,
    without: "the sandbox's mail server, where there is a sandbox",
    by: subgraphs,
    does: 'Mail server: `smtp://user:password@mail.example.com:587`, or `smtps://` for TLS from the first byte. Required in staging and production without a sandbox. Only identity reads it. See [Mail](mail.md).',
  }),
  mailFrom: setting('MAIL_FROM', mailbox, {
    fallback: null,
    without: '`no-reply@` and the host of `PUBLIC_URL`',
    by: subgraphs,
    does: 'Sender of mails: `no-reply@example.com` or `Example <no-reply@example.com>`.',
  }),
}

/** How events reach the listeners of other processes. */
export const events = {
  natsUrl: setting('NATS_URL', nats, {
    fallback: null,
    by: subgraphs,
    does: 'NATS server for events between processes. See [Events between processes](scaling.md#events-between-processes) for the forms.',
  }),
  carrier: setting('EVENT_CARRIER', oneOf('memory', 'notify', 'nats'), {
    fallback: null,
    without: '`nats` with `NATS_URL`, else `notify` in distributed mode and `memory` in one process',
    by: subgraphs,
    does: 'Transport of events between processes: `memory`, `notify` (PostgreSQL) or `nats`. Must be the same in all processes.',
  }),
}

/** Protocols by which a router subscribes at subgraphs. */
const subscriptionProtocols = oneOf('graphql-ws', 'sse', 'multipart', 'callback')

/** What the router does with subgraphs that it reaches over HTTP, and they with it. */
export const remote = {
  propagate: setting('PROPAGATE_HEADERS', headerNames, {
    fallback: [],
    by: ['router'],
    does: 'Client headers that a router passes to subgraphs over HTTP: `authorization,x-tenant`. Hop-by-hop headers never pass; `x-request-id` always does.',
  }),
  fetchMs: setting('FETCH_TIMEOUT_MS', milliseconds, {
    fallback: 10_000,
    by: ['router'],
    does: 'Limit of one fetch from a subgraph over HTTP; longer for fields with `@patience`.',
  }),
  drainMs: setting('DRAIN_MS', whole(0, 30_000, 'must be a number of milliseconds up to 30000'), {
    fallback: 500,
    by: ['router', 'subgraph'],
    does: 'How long a stopping process still answers while `/health/ready` is 503; at most 30000. Make it longer than your load balancer takes to notice.',
  }),
  deduplicate: setting('DEDUPLICATE', flag, {
    fallback: false,
    by: ['router'],
    does: '`1`: equal queries of one viewer that arrive while the first is running share its answer, and equal subgraph requests share a fetch. An answer may then predate its question, but never a mutation that this router answered before.',
  }),
  routerUrl: setting('ROUTER_URL', addresses, {
    fallback: null,
    without: '`PUBLIC_URL`',
    by: ['subgraph'],
    does: 'Addresses of routers for subgraphs, comma-separated.',
  }),
  subscriptions: setting('SUBGRAPH_SUBSCRIPTIONS', subscriptionProtocols, {
    fallback: 'graphql-ws',
    by: ['router'],
    does: 'How a router subscribes at subgraphs of another supergraph: `graphql-ws`, `sse`, `multipart` or `callback`. See [Subscriptions](router.md#subscriptions).',
  }),
  callbackUrl: setting('SUBSCRIPTION_CALLBACK_URL', address, {
    fallback: null,
    without: '`$PUBLIC_URL/subscriptions/callback`',
    by: ['router'],
    does: 'Address of this router process for the calls of subgraphs that are subscribed to by `callback`.',
  }),
  heartbeatMs: setting('SUBSCRIPTION_HEARTBEAT_MS', whole(0, 600_000, 'must be a number of milliseconds up to 600000'), {
    fallback: 5_000,
    by: ['router'],
    does: 'Milliseconds between two calls by which such a subgraph shows that it lives; three without one break the stream. 0: none is awaited.',
  }),
}

/** The same for each subgraph: `<NAME>` is its name in capitals, with `_` for every character that is neither letter nor digit. */
export const eachSubgraph = {
  url: setting('<NAME>_URL', addresses, {
    fallback: null,
    without: 'the address in the supergraph',
    by: ['router', 'subgraph'],
    does: 'Addresses of the subgraph `NAME`, path included (`PUBLISHING_URL=http://a:4001/graphql,http://b:4001/graphql`). Routers query there, other subgraphs deliver facts there. Characters other than letters and digits become `_`: `two-b` is `TWO_B_URL`.',
  }),
  timeoutMs: setting('<NAME>_TIMEOUT_MS', milliseconds, {
    fallback: null,
    without: '`FETCH_TIMEOUT_MS`',
    by: ['router'],
    does: '`FETCH_TIMEOUT_MS` for the subgraph `NAME`.',
  }),
  subscriptions: setting('<NAME>_SUBSCRIPTIONS', subscriptionProtocols, {
    fallback: null,
    without: '`SUBGRAPH_SUBSCRIPTIONS`',
    by: ['router'],
    does: '`SUBGRAPH_SUBSCRIPTIONS` for the subgraph `NAME`.',
  }),
}

/** Where the platform may go of its own accord. */
export const outwards = {
  allowed: setting('OUTBOUND_ALLOW', origins, {
    fallback: [],
    by: subgraphs,
    does: 'Origins of third parties that may be called on private addresses: `http://models.internal:8080,smtp://mail.internal:25`. Anyone who can store a credential can make the platform call them. See [Addresses that users give](security.md#addresses-that-users-give).',
  }),
  dnsServers: setting('OUTBOUND_DNS_SERVERS', dnsServers, {
    fallback: null,
    without: 'those of the machine',
    by: subgraphs,
    does: 'DNS servers for host names that callers give: `192.0.2.53,[2001:db8::53]:5353`. `/etc/hosts` comes first.',
  }),
}

/** For tests alone, so operators are not told. */
export const testing = {
  crashAt: setting('CRASH_AT', text, { fallback: null, by: subgraphs, does: 'Where the process kills itself.' }),
}

/** Settings that the supervisor passes to the processes it runs; operators do not set them. */
export const keeping = {
  keptBy: setting('KEPT_BY', text, {
    fallback: null,
    by: everything,
    does: 'Who started the process and takes it along when it ends, with the id of its process.',
  }),
  worker: setting('KEPT_AS', whole(1, 99, 'must be a number from 1 to 99'), {
    fallback: null,
    by: ['router'],
    does: 'Which of the processes it is that serve one port together.',
  }),
}

/** Settings that operators set, in the order of the documentation. */
export const documented: readonly { readonly title: string; readonly family: Family }[] = [
  { title: 'Process and addresses', family: place },
  { title: 'Service hosts', family: hosts },
  { title: 'Database and file storage', family: { ...storage, ...objects } },
  { title: 'Secrets and service tokens', family: { ...secrets, ...seal, ...serviceTokens, ...eachService } },
  ...networkFamilies.map(({ title, family }) => ({ title, family })),
  { title: 'Sign-up', family: accounts },
  { title: 'Demo and sandbox', family: demo },
  { title: 'Outgoing mail', family: mail },
  { title: 'Events between processes', family: events },
  { title: 'Operation limits', family: operations },
  { title: 'Rate limits', family: rates },
  { title: 'Trusted documents', family: documents },
  { title: 'Progressive override', family: overrides },
  { title: 'WebSockets and streams', family: streams },
  { title: 'Response cache', family: responseCache },
  { title: 'Usage', family: usage },
  { title: 'Tracing', family: tracing },
  { title: 'Source of the supergraph', family: supergraphs },
  { title: 'Distributed mode', family: { ...remote, ...eachSubgraph } },
  { title: 'External token issuer', family: foreignIssuer },
  { title: 'Service registry', family: registry },
  { title: 'Native apps', family: mobileBuilds },
  { title: 'Payments', family: { ...paymentsAddresses, ...paymentsEvents, ...paymentsSettlement } },
  { title: 'Agents', family: agentsNeighbours },
  { title: 'Public chat', family: publicChat },
  { title: 'Bundles', family: billing },
  { title: 'Marketing site', family: marketing },
  { title: 'Notifications', family: notifications },
  { title: 'Providers and outgoing calls', family: { ...outwards, ...providerAddresses } },
  { title: 'Model timeouts', family: aiTimes },
  { title: 'Prices', family: prices },
  { title: 'Gateway mail', family: email },
  { title: 'Quotas', family: quotas },
  { title: 'Retention', family: retention },
]
