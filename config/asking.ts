import {
  address,
  addresses,
  answerBytes,
  atLeast,
  cacheStore,
  cost,
  days,
  headerName,
  headersRead,
  mebibytes,
  milliseconds,
  oneOf,
  quota,
  rate,
  share,
  text,
  whole,
} from './readers.ts'
import { type Start, setting } from './setting.ts'

const doors: readonly Start[] = ['all', 'router']

/** How often callers may ask. */
export const rates = {
  each: setting('RATE_LIMIT', rate, {
    fallback: null,
    without: 'no limit',
    by: doors,
    does: 'Operations a minute of one caller (person, API key or anonymous address) over all protocols. Each process counts for itself.',
  }),
  keys: setting('RATE_LIMIT_KEYS', rate, {
    fallback: null,
    without: '`RATE_LIMIT`',
    by: doors,
    does: 'The same for API keys only.',
  }),
}

/** Which documents clients may ask. */
export const documents = {
  trust: setting('TRUSTED_DOCUMENTS', oneOf('off', 'log', 'only'), {
    fallback: 'off',
    by: doors,
    does: 'Treatment of documents that `TRUSTED_DOCUMENTS_FILE` does not list: `off`, `log` (answer and log each once) or `only` (refuse with `PERSISTED_QUERY_REQUIRED`). REST routes and calls between services are exempt.',
  }),
  file: setting('TRUSTED_DOCUMENTS_FILE', text, {
    fallback: null,
    by: doors,
    does: "Persisted query manifest, from `npm run documents` or Apollo Client's tools. Read again when it changes; if the new one cannot be read, the old one stays.",
  }),
}

/** How operations run. */
export const operations = {
  engine: setting('ROUTER_ENGINE', oneOf('native', 'apollo'), {
    fallback: 'native',
    by: doors,
    does: '`native`, or `apollo` for the stock `@apollo/gateway`, which has no subscriptions.',
  }),
  operationMs: setting('OPERATION_TIMEOUT_MS', milliseconds, {
    fallback: 30_000,
    by: doors,
    does: 'Limit of all fetches of one operation, or of one subscription event. Fields with `@patience` extend it.',
  }),
  planMs: setting('PLANNING_TIMEOUT_MS', milliseconds, {
    fallback: 1_000,
    by: doors,
    does: 'Limit of planning one new operation. Past it the operation is refused with `BAD_USER_INPUT`, and for a minute at once. Not with `apollo`.',
  }),
  slowMs: setting('SLOW_OPERATION_MS', milliseconds, {
    fallback: 1_000,
    by: doors,
    does: 'Operations that take longer are logged as `slow operation`, with their plan and without variables. Not with `apollo`.',
  }),
  answerBytes: setting('ANSWER_BYTES', answerBytes, {
    fallback: 16 * 1024 * 1024,
    by: doors,
    does: 'Maximum bytes of one answer or one subscription event.',
  }),
  inFlight: setting('IN_FLIGHT_MIB', mebibytes, {
    fallback: 192,
    by: [...doors, 'subgraph'],
    does: 'Mebibytes that a process holds for operations and answers under way: what was read for an operation until its answer is made, and the answer until it is written. What needs more is refused with `RATE_LIMITED` and `Retry-After`; what one operation may not hold by itself is `OPERATION_TOO_EXPENSIVE` ([decision 0120](../decisions/0120-bytes-in-flight.md)). Beside these a process takes some 250 MB, and as much again for a moment while answers are written.',
  }),
  inFlightOfCaller: setting('IN_FLIGHT_MIB_PER_CALLER', mebibytes, {
    fallback: 48,
    by: [...doors, 'subgraph'],
    does: 'The same for one caller: a person, an API key, or an anonymous address.',
  }),
  inFlightOfOrganization: setting('IN_FLIGHT_MIB_PER_ORGANIZATION', mebibytes, {
    fallback: 96,
    by: [...doors, 'subgraph'],
    does: 'The same for one organization, whoever of it calls.',
  }),
  incremental: setting('INCREMENTAL_DELIVERY', oneOf('on', 'off'), {
    fallback: 'on',
    by: doors,
    does: 'Whether clients may have parts of an answer sent later with `@defer` and `@stream`; `off` refuses both as unknown directives. See [Deferred fragments](../clients.md#deferred-fragments).',
  }),
  incrementalDirectives: setting('MAX_INCREMENTAL_DIRECTIVES', whole(1, 1000, 'must be a number from 1 to 1000'), {
    fallback: 50,
    by: doors,
    does: 'Maximum number of `@defer` and `@stream` in one operation, fragments expanded.',
  }),
  deferDepth: setting('MAX_DEFER_DEPTH', whole(1, 100, 'must be a number from 1 to 100'), {
    fallback: 8,
    by: doors,
    does: 'Maximum depth of `@defer` within `@defer`.',
  }),
  incrementalParts: setting('MAX_INCREMENTAL_PARTS', whole(1, 100_000, 'must be a number from 1 to 100000'), {
    fallback: 1000,
    by: doors,
    does: 'Maximum number of deferred parts of one answer. Parts of a list that would bring more come with what is around them.',
  }),
  maxCost: setting('MAX_COST', cost, {
    fallback: 20_000,
    by: doors,
    does: 'Maximum estimated cost of an operation, at least 1000; REST routes are exempt. See [Query cost](limits.md#query-cost).',
  }),
}

/** How much callers may keep open. A company behind one address, and a test of load, need other figures than the public. */
export const streams = {
  perAddress: setting('SOCKETS_PER_ADDRESS', quota, {
    fallback: 100,
    by: doors,
    does: 'Open WebSockets of one address (IPv6: one /64). One more is closed with 4429; more than twice as many get 429.',
  }),
  perViewer: setting('SOCKETS_PER_CALLER', quota, { fallback: 50, by: doors, does: 'Open WebSockets of one person or API key. One more is closed with 4429.' }),
  messages: setting('SOCKET_MESSAGES_PER_SECOND', rate, {
    fallback: 100,
    by: doors,
    does: 'Sustained messages a second of one WebSocket, with bursts of ten times as many. More closes it with 4429.',
  }),
  perCaller: setting('SUBSCRIPTIONS_PER_CALLER', quota, {
    fallback: 200,
    by: doors,
    does: 'Subscriptions of one person, API key or anonymous address. One more is refused with `RATE_LIMITED`.',
  }),
  unansweredMs: setting('STREAMS_UNANSWERED_MS', milliseconds, {
    fallback: 60_000,
    by: doors,
    does: 'How long streams continue while identity cannot confirm their session. Then WebSockets close with 1013 and HTTP streams end with `UPSTREAM_FAILED`.',
  }),
  drainMs: setting('STREAM_DRAIN_MS', whole(0, 600_000, 'must be a number of milliseconds up to 600000'), {
    fallback: 30_000,
    by: [...doors, 'subgraph'],
    does: 'How long a stopping process lets model streams continue, at most 600000. Your supervisor must wait this much longer before it kills.',
  }),
}

/** Who gets a field from the subgraph to which a labelled `@override` moves it. */
export const overrides = {
  salt: setting('OVERRIDE_SALT', text, {
    fallback: '',
    without: 'none',
    by: doors,
    does: 'Text that decides, with the id of a viewer, which viewers `percent(N)` means. The same on all routers; another one makes another choice. See [Move a field between subgraphs](overrides.md).',
  }),
  stickyHeader: setting('OVERRIDE_STICKY_HEADER', headerName, {
    fallback: null,
    by: doors,
    does: 'Client header whose value stands for the id of a viewer who has none: `x-user-id`. Without it each of their requests is decided by chance.',
  }),
  file: setting('OVERRIDE_LABELS_FILE', text, {
    fallback: null,
    by: doors,
    does: 'JSON of labels and rules: `{ "<label>": true | false | "percent(N)" | { "header": "<name>" } }`. Read again within two seconds of a change; if it cannot be read, the former rules stay.',
  }),
  header: setting('OVERRIDE_HEADER', oneOf('on', 'off'), {
    fallback: null,
    without: '`on` in development, else `off`',
    by: doors,
    does: 'Whether a request may decide on labels itself: `x-graphql-override: <label>=on, <label>=off`. Where it may not, the header is ignored.',
  }),
}

/** Whether and how long use of the schema is recorded. */
export const usage = {
  recording: setting('USAGE', oneOf('on', 'off'), {
    fallback: null,
    without: '`on` with a database',
    by: doors,
    does: 'Whether routers record which clients use which fields ([Usage](usage.md)). Distributed routers need `DATABASE_URL` for it; `start:router --supergraph` records nothing.',
  }),
  flushMs: setting('USAGE_FLUSH_MS', milliseconds, { fallback: 60_000, by: doors, does: 'Milliseconds between two writes of what was used.' }),
  days: setting('USAGE_DAYS', days(1), { fallback: 90, by: doors, does: 'Days for which use is kept.' }),
  exportMs: setting('USAGE_EXPORT_MS', milliseconds, {
    fallback: 10_000,
    by: doors,
    does: 'Milliseconds between two reports of use to Hive or GraphOS; one is sent after 1,500 operations at the latest. See [Usage](usage.md#send-it-to-hive-or-graphos).',
  }),
  sampleRate: setting('USAGE_SAMPLE_RATE', share, { fallback: 1, by: doors, does: 'Share of operations that these reports count: 0 to 1.' }),
  hiveTarget: setting('HIVE_TARGET', text, {
    fallback: null,
    without: 'nothing is sent to Hive',
    by: doors,
    does: 'Target at Hive that gets reports of use: `<organization>/<project>/<target>`, or its id. Needs `HIVE_ACCESS_TOKEN`.',
  }),
  hiveToken: setting('HIVE_ACCESS_TOKEN', text, { fallback: null, by: doors, does: 'Access token of Hive that may report use.' }),
  hiveEndpoint: setting('HIVE_USAGE_ENDPOINT', address, {
    fallback: 'https://app.graphql-hive.com/usage',
    by: doors,
    does: 'Address of Hive’s usage endpoint, without the target.',
  }),
  apolloEndpoint: setting('APOLLO_USAGE_ENDPOINT', address, {
    fallback: 'https://usage-reporting.api.apollographql.com',
    by: doors,
    does: 'Where GraphOS takes reports of use. They are sent where `APOLLO_KEY` and `APOLLO_GRAPH_REF` are set.',
  }),
}

/** Where a router before any subgraphs reads its supergraph. */
export const supergraphs = {
  source: setting('SUPERGRAPH', text, {
    fallback: null,
    by: ['router'],
    does: 'What `--supergraph` names where the command line does not: a file, `http(s)` addresses with commas between, `s3://bucket/key`, or `uplink`. See [Sources](router.md#sources-of-the-supergraph).',
  }),
  pollMs: setting('SUPERGRAPH_POLL_MS', whole(1000, 86_400_000, 'must be a number of milliseconds from 1000 to 86400000'), {
    fallback: 10_000,
    by: ['router'],
    does: 'Milliseconds between two looks at a source that is no file; `uplink` is asked every 10000 at most.',
  }),
  folder: setting('SUPERGRAPH_CACHE_DIR', text, {
    fallback: null,
    without: '`$DATA_DIR/supergraph`',
    by: ['router'],
    does: 'Folder in which the last supergraph of such a source is kept, for a start without the network.',
  }),
  headers: setting('SUPERGRAPH_HEADERS', headersRead, {
    fallback: {},
    without: 'none',
    by: ['router'],
    does: 'Headers of requests to `http(s)` sources: a JSON object of texts.',
  }),
  hiveKey: setting('HIVE_CDN_KEY', text, { fallback: null, by: ['router'], does: 'Key of Hive’s CDN, sent to `http(s)` sources as `x-hive-cdn-key`.' }),
  apolloKey: setting('APOLLO_KEY', text, {
    fallback: null,
    by: doors,
    does: 'Key of the graph at GraphOS. Required for `uplink`; with `APOLLO_GRAPH_REF` routers report use there ([Usage](usage.md#send-it-to-hive-or-graphos)).',
  }),
  apolloGraph: setting('APOLLO_GRAPH_REF', text, {
    fallback: null,
    by: doors,
    does: 'The graph at GraphOS and its variant, `shop@prod`. Required for `uplink`.',
  }),
  endpoints: setting('APOLLO_UPLINK_ENDPOINTS', addresses, {
    fallback: ['https://uplink.api.apollographql.com/', 'https://aws.uplink.api.apollographql.com/'],
    without: 'those of GraphOS',
    by: ['router'],
    does: 'Addresses of Uplink with commas between; where one fails the next is asked.',
  }),
}

const seconds = whole(0, 31_536_000, 'must be a number of seconds up to 31536000')

/** Whether and how long answers of subgraphs are kept. */
export const responseCache = {
  store: setting('RESPONSE_CACHE', cacheStore, {
    fallback: 'off',
    by: doors,
    does: 'Whether a router keeps answers of subgraphs as long as `@cacheControl` and their `Cache-Control` allow: `off`, `memory`, or the address of a Redis server that several routers share, `redis://user:password@host:6379/0`, `rediss://` for TLS; memory stays before it. See [Response cache](response-cache.md).',
  }),
  bytes: setting('RESPONSE_CACHE_BYTES', whole(65_536, 999_999_999, 'must be a number of bytes from 65536 to 999999999'), {
    fallback: 64 * 1024 * 1024,
    by: doors,
    does: 'Maximum bytes of what one process keeps; the least recently used goes first.',
  }),
  maxAge: setting('RESPONSE_CACHE_MAX_AGE', seconds, {
    fallback: 300,
    by: doors,
    does: 'Maximum seconds of every age, of kept answers and in `Cache-Control` of the router’s own.',
  }),
  defaultMaxAge: setting('RESPONSE_CACHE_DEFAULT_MAX_AGE', seconds, {
    fallback: 0,
    by: doors,
    does: 'Seconds for root fields, and fields of objects, for which neither schema nor subgraph names an age.',
  }),
  onMutation: setting('RESPONSE_CACHE_ON_MUTATION', oneOf('subgraph', 'off'), {
    fallback: 'subgraph',
    by: ['router'],
    does: 'What a mutation through `start:router --supergraph` drops: everything of the subgraphs that it asked (`subgraph`), or nothing (`off`).',
  }),
  invalidationToken: setting('INVALIDATION_TOKEN', atLeast(16), {
    fallback: null,
    without: '`POST /invalidation` is 404',
    by: doors,
    does: 'Token with which `POST /invalidation` drops kept answers; at least 16 characters.',
  }),
}
