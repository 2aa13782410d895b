import { documents, operations, rates, streams } from './asking.ts'
import { hosts } from './hosts.ts'
import { accounts, foreignIssuer, registry } from './identity.ts'
import { networkFamilies } from './networks.ts'
import { objects } from './objects.ts'
import { aiTimes, email, prices, providerAddresses } from './providers.ts'
import { quotas, retention } from './quotas.ts'
import {
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

// Every setting stands here once, in a row of its family: `readConfig` reads it, `--help` and docs/operating.md tell it.

const everything: readonly Start[] = ['all', 'router', 'subgraph']
const doors: readonly Start[] = ['all', 'router']
const subgraphs: readonly Start[] = ['all', 'subgraph']

/** Where a process is, and who reaches it. */
export const place = {
  environment: setting('ENVIRONMENT', oneOf('development', 'staging', 'production'), {
    fallback: 'development',
    by: everything,
    does: '`development`, `staging` or `production`. Outside development nothing secret is generated, and clients do not see the text of internal errors (never a stack anywhere); introspection and suggestions are off in production. Apart from `NODE_ENV`, which belongs to libraries.',
  }),
  host: setting('HOST', text, {
    fallback: 'localhost',
    by: everything,
    does: 'The name or address to listen on. A loopback name means both address families, `0.0.0.0` every interface.',
  }),
  port: setting('PORT', port, { fallback: 4000, by: everything, does: 'Where to listen. A subgraph apart has the port that `supergraph.yaml` gives it.' }),
  sharePort: setting('SHARE_PORT', flag, {
    fallback: false,
    by: ['router'],
    does: '`1`: several routers of one machine listen on the same port, and the system hands each connection to one of them. On Linux; `npm run start:apart` sets it. With `--workers` it is the workers that do, where else connections are handed to them in turn.',
  }),
  publicUrl: setting('PUBLIC_URL', origin, {
    fallback: null,
    without: '`http://localhost:$PORT`',
    by: everything,
    does: "The origin clients use: the source of every absolute address, of the issuer of tokens, and of the networks' callback addresses.",
  }),
  corsOrigins: setting('CORS_ORIGINS', origins, {
    fallback: [],
    by: everything,
    does: "`https://app.example.com,https://admin.example.com`: pages on other origins than the platform's own that may use it: browsers let them read answers, errors included, their WebSockets are taken, and the session cookie counts when they send it. So name only pages that you run yourself; there are no patterns. The cookie is `SameSite=Lax`: browsers send it from other hosts of the same site (`app.example.com` to `api.example.com`), and from another site never; there a page signs in and sends `Authorization: Bearer`. In development every page of this machine may (`localhost`, `*.localhost`, `127.0.0.1`, `[::1]`, every port). When processes run apart, the routers and identity need it.",
  }),
  productionHosts: setting('PRODUCTION_HOSTS', hostNames, {
    fallback: [],
    by: everything,
    does: '`api.example.com,db.example.com:5432`: hosts of production, for staging to know. There every setting that is an address on one of them ends the start with a line that names it, before a database is opened. A name with a port means that port alone.',
  }),
  trustProxy: setting('TRUST_PROXY', proxies, {
    fallback: false,
    by: doors,
    does: 'The addresses and networks of the proxies in front, `10.0.0.0/8,192.168.1.7`: `X-Forwarded-For` counts as far as they wrote it. `1` believes all of it, so the proxy must write that header anew: one that only appends to it lets clients choose their address. Without it everybody behind a proxy has one address, and shares its 100 WebSockets, and its 100 failed sign-ins and 1,000 calls without credentials in 15 minutes; the log warns once.',
  }),
  logLevel: setting('LOG_LEVEL', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    fallback: null,
    without: '`warn` in development, else `info`',
    by: everything,
    does: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. The log is one JSON object a line, with the request id; secrets are replaced.',
  }),
}

/** Where traces go (OpenTelemetry). */
export const tracing = {
  endpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', origin, {
    fallback: null,
    without: 'no traces',
    by: everything,
    does: 'A collector that takes OTLP over HTTP, `http://localhost:4318`: traces of requests, operations, plans, fetches, statements, jobs and outgoing calls go there. `OTEL_EXPORTER_OTLP_HEADERS` counts as OpenTelemetry says.',
  }),
  share: setting('OTEL_TRACES_SAMPLER_ARG', share, {
    fallback: 0.1,
    by: everything,
    does: 'Which share of traces is kept, 0 to 1. It is decided by their ids, so every process that has the same share decides alike.',
  }),
  service: setting('OTEL_SERVICE_NAME', text, { fallback: 'supergraph', by: everything, does: 'Under which name the spans of this process are found.' }),
}

/** What is kept, and where. */
export const storage = {
  dataDir: setting('DATA_DIR', text, {
    fallback: '.data',
    by: ['all', 'apart', 'subgraph'],
    does: 'Database, generated keys, sandbox state, the link for the first account (`setup-link`).',
  }),
  databaseUrl: setting('DATABASE_URL', postgres, {
    fallback: null,
    by: subgraphs,
    does: 'A PostgreSQL of your own, 16 or later, instead of the embedded one. Its user owns the database or may create in it; `?sslmode=verify-full&sslrootcert=FILE` for TLS.',
  }),
}

/** What nobody else may know. */
export const secrets = {
  authSecret: setting('AUTH_SECRET', atLeast(32), {
    fallback: null,
    without: 'generated in development',
    by: subgraphs,
    does: 'At least 32 characters; signs the cookies of sessions. The first start with another one ends every session and makes a new signing key; people sign in again. A process that still has the old one is not ready from then on.',
  }),
  metricsToken: setting('METRICS_TOKEN', atLeast(16), {
    fallback: null,
    by: everything,
    does: 'At least 16 characters: lets callers from other machines read `/metrics`, as `Authorization: Bearer`. Without it only this machine may, and nobody through a proxy.',
  }),
  encryptionKeys: setting('ENCRYPTION_KEYS', keys, {
    fallback: null,
    without: 'generated in development',
    by: subgraphs,
    does: '`k1:<32 bytes in base64>,…`: the first encrypts, all decrypt. Put a new one in front to rotate, in every process; `npm run secrets:rewrite` writes everything again, then the old one may go.',
  }),
}

/** How the router tells subgraphs that run apart who asks, and they tell the router. */
export const seal = {
  appTokens: setting('APP_SERVICE_TOKENS', appTokens, {
    fallback: null,
    without: 'generated in development',
    by: everything,
    does: '`app_publishing:…,app_agents:…`, each token 32 characters or more: with what services show which one they are (`X-Service-Token`, `X-App-Id`), to be what they are registered for in every service. An app has several while one is changed. Of processes apart routers have all of them, a subgraph its own, with which it asks for nobody whom the router sent, as its jobs do.',
  }),
  privateKey: setting('SEAL_PRIVATE_KEY', oneKey, {
    fallback: null,
    by: ['router'],
    does: 'For processes apart: the key that the router seals with. `npm run --silent seal:keys` prints it with its public half.',
  }),
  publicKeys: setting('SEAL_PUBLIC_KEYS', keys, {
    fallback: null,
    by: ['subgraph'],
    does: 'For processes apart: the keys of routers that a subgraph believes.',
  }),
}

/** What is there to try the platform with. */
export const demo = {
  wanted: setting('DEMO', flag, {
    fallback: null,
    without: 'on in development where `HOST` and `PUBLIC_URL` are loopback',
    by: everything,
    does: 'Demo accounts, demo data, the sandbox, printed passwords. `1` makes them elsewhere too, in staging as well; production refuses it. Production, and staging without `DEMO=1`, do not start on a database that holds demo accounts: `npm run demo:remove` removes them ([decision 0021](decisions/0021-demo-accounts.md)).',
  }),
  sandboxPort: setting('SANDBOX_PORT', port, {
    fallback: null,
    without: '`PORT` + 100',
    by: ['all', 'apart'],
    does: 'Where the sandbox listens. When that is taken it listens on a free port, and the start says so.',
  }),
  sandboxSmtpPort: setting('SANDBOX_SMTP_PORT', port, {
    fallback: null,
    without: '`PORT` + 125',
    by: ['all', 'apart'],
    does: "Where the sandbox's mail server listens. When that is taken, or `SANDBOX_PORT` is 0, it listens on a free port.",
  }),
  sandboxDnsPort: setting('SANDBOX_DNS_PORT', port, {
    fallback: null,
    without: '`PORT` + 126',
    by: ['all', 'apart'],
    does: "Where the sandbox's server of DNS listens, over UDP and TCP. When that is taken, or `SANDBOX_PORT` is 0, it listens on a free port.",
  }),
  sandboxFolder: setting('SANDBOX_DIR', text, {
    fallback: null,
    by: everything,
    does: 'The folder of a sandbox that runs as a process of its own. A router apart tells of it and of the demo accounts at `/`.',
  }),
}

/** How mails leave. */
export const mail = {
  smtpUrl: setting('SMTP_URL', smtp, {
    fallback: null,
    without: "the sandbox's mail server, where there is a sandbox",
    by: subgraphs,
    does: 'The mail server that takes our mails: `smtp://user:password@mail.example.com:587`, `smtps://` for TLS from the first byte on. With `smtp://` STARTTLS is used where the server offers it; certificates are checked. Staging and production do not start without it, unless they have a sandbox. Identity alone needs it.',
  }),
  mailFrom: setting('MAIL_FROM', mailbox, {
    fallback: null,
    without: '`no-reply@` and the host of `PUBLIC_URL`',
    by: subgraphs,
    does: 'From whom our mails are: `no-reply@example.com`, or with a name `Example <no-reply@example.com>`.',
  }),
}

/** How events reach the listeners of other processes. */
export const events = {
  natsUrl: setting('NATS_URL', nats, {
    fallback: null,
    by: subgraphs,
    does: 'A NATS server that carries events between processes: `nats://user:password@host:4222`, `nats://token@host:4222`, several servers of a cluster with commas between, each with its `nats://` or without (the credentials stand in the first), `tls://` for TLS. A path names the platform among others on the same server (`/staging`); `?creds=FILE`, and for TLS `ca=FILE`, `cert=FILE`, `key=FILE`.',
  }),
  carrier: setting('EVENT_CARRIER', oneOf('memory', 'notify', 'nats'), {
    fallback: null,
    without: '`nats` with `NATS_URL`, else `notify` where subgraphs run apart and `memory` in one process',
    by: subgraphs,
    does: 'What carries events between processes: `memory` (nothing: all are in this one), `notify` (PostgreSQL, over one connection of each process) or `nats`. All processes of a platform need the same.',
  }),
}

/** What the router does with subgraphs that it reaches over HTTP, and they with it. */
export const remote = {
  propagate: setting('PROPAGATE_HEADERS', headerNames, {
    fallback: [],
    by: ['router'],
    does: '`authorization,x-tenant`: client headers that a router passes to all subgraphs that it reaches over HTTP. Headers of one connection never pass; `x-request-id` always does.',
  }),
  fetchMs: setting('FETCH_TIMEOUT_MS', milliseconds, {
    fallback: 10_000,
    by: ['router'],
    does: 'What one fetch from a subgraph over HTTP may take, if its operation has so much time left; more where a field that it asks for says `@patience`.',
  }),
  drainMs: setting('DRAIN_MS', whole(0, 30_000, 'must be a number of milliseconds up to 30000'), {
    fallback: 500,
    by: ['router', 'subgraph'],
    does: 'For how long a process apart that is to end goes on to answer, while `/health/ready` says that it is not ready: a router serves, a subgraph sends routers to another replica. Longer than what stands in front of the routers takes to hear of it.',
  }),
  deduplicate: setting('DEDUPLICATE', flag, {
    fallback: false,
    by: ['router'],
    does: '`1`: equal queries of one viewer, with the same variables and passing headers, that are asked while the first of them is answered get its answer; and a subgraph is asked once for equal questions that are on their way at the same time. So an answer may have been read from before its question came. A query that is asked after a mutation was answered joins none that began earlier at this router.',
  }),
  routerUrl: setting('ROUTER_URL', addresses, {
    fallback: null,
    without: '`PUBLIC_URL`',
    by: ['subgraph'],
    does: 'Where subgraphs that run apart ask the router; several with commas between.',
  }),
}

/** The same for each subgraph: `<NAME>` is its name in capitals, with `_` for every character that is neither letter nor digit. */
export const eachSubgraph = {
  url: setting('<NAME>_URL', addresses, {
    fallback: null,
    without: 'as composed',
    by: ['router', 'subgraph'],
    does: 'Where the subgraph NAME answers (`PUBLISHING_URL`), path included, over HTTP and WebSocket, several replicas with commas between: routers ask there, and other subgraphs bring facts to those origins. NAME is in capitals, with `_` for every character that is neither letter nor digit: `two-b` is `TWO_B_URL`.',
  }),
  timeoutMs: setting('<NAME>_TIMEOUT_MS', milliseconds, {
    fallback: null,
    without: '`FETCH_TIMEOUT_MS`',
    by: ['router'],
    does: 'What one fetch from the subgraph NAME may take.',
  }),
}

/** Where the platform may go of its own accord. */
export const outwards = {
  allowed: setting('OUTBOUND_ALLOW', origins, {
    fallback: [],
    by: subgraphs,
    does: '`http://models.internal:8080,smtp://mail.internal:25`: third parties that may be called although they lie on a private address. Whoever may keep a credential can then have the platform call them. The sandbox is among them in the demo.',
  }),
  dnsServers: setting('OUTBOUND_DNS_SERVERS', dnsServers, {
    fallback: null,
    without: 'those of the machine',
    by: subgraphs,
    does: 'Servers of DNS that are asked where names lead that callers gave, `192.0.2.53,[2001:db8::53]:5353`. `/etc/hosts` counts first. Names of the settings are found as every program of the machine does.',
  }),
}

/** Where the pages of payments find the parts of the platform. */
export const paymentsAddresses = {
  auth: setting('PAYMENTS_AUTH_URL', origin, {
    fallback: null,
    without: '`PUBLIC_URL`',
    by: subgraphs,
    does: 'Where people sign in who use payments: an origin.',
  }),
  gateway: setting('PAYMENTS_GATEWAY_URL', origin, {
    fallback: null,
    without: '`PUBLIC_URL`',
    by: subgraphs,
    does: 'Where payments find the gateway to providers: an origin.',
  }),
  app: setting('PAYMENTS_APP_URL', origin, {
    fallback: null,
    without: 'the first of `PAYMENTS_WEB_HOST`, else `PUBLIC_URL`',
    by: subgraphs,
    does: 'Where the pages of payments are: an origin.',
  }),
}

/** For tests alone, so operators are not told. */
export const testing = {
  crashAt: setting('CRASH_AT', text, { fallback: null, by: subgraphs, does: 'Where the process kills itself.' }),
}

/** What processes apart are told by the one that keeps them running; operators are not told of it. */
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

/** What operators are told of, in this order. */
export const documented: readonly { readonly title: string; readonly family: Family }[] = [
  { title: 'Where it is', family: place },
  { title: 'Hosts of services', family: hosts },
  { title: 'What it keeps', family: { ...storage, ...objects } },
  { title: 'Secrets', family: { ...secrets, ...seal, ...serviceTokens, ...eachService } },
  ...networkFamilies.map(({ title, family }) => ({ title, family })),
  { title: 'Accounts', family: accounts },
  { title: 'Demo', family: demo },
  { title: 'Mails', family: mail },
  { title: 'Events', family: events },
  { title: 'Operations', family: operations },
  { title: 'Rates', family: rates },
  { title: 'Documents', family: documents },
  { title: 'Streams', family: streams },
  { title: 'Traces', family: tracing },
  { title: 'Processes apart', family: { ...remote, ...eachSubgraph } },
  { title: 'Foreign issuer', family: foreignIssuer },
  { title: 'Registry', family: registry },
  { title: 'Payments', family: paymentsAddresses },
  { title: 'Third parties', family: { ...outwards, ...providerAddresses } },
  { title: 'Models', family: aiTimes },
  { title: 'Prices', family: prices },
  { title: 'Mail of the gateway', family: email },
  { title: 'Quotas', family: quotas },
  { title: 'Retention', family: retention },
]
