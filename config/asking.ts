import { answerBytes, cost, milliseconds, oneOf, quota, rate, text, whole } from './readers.ts'
import { type Start, setting } from './setting.ts'

const doors: readonly Start[] = ['all', 'router']

/** How often callers may ask. */
export const rates = {
  each: setting('RATE_LIMIT', rate, {
    fallback: null,
    without: 'no limit',
    by: doors,
    does: 'Operations a minute of one caller (a person, an API key, or an anonymous address), over GraphQL and REST, WebSockets and subscriptions included: one more is refused with 429, `RATE_LIMITED` and `Retry-After`. All may come at once; what was used comes back evenly. Each process counts for itself, so with several routers it is what each of them lets pass.',
  }),
  keys: setting('RATE_LIMIT_KEYS', rate, {
    fallback: null,
    without: '`RATE_LIMIT`',
    by: doors,
    does: 'The same for each API key. Alone it limits keys and nobody else.',
  }),
}

/** Which documents clients may ask. */
export const documents = {
  trust: setting('TRUSTED_DOCUMENTS', oneOf('off', 'log', 'only'), {
    fallback: 'off',
    by: doors,
    does: '`log` or `only`: what becomes of a document that is not in `TRUSTED_DOCUMENTS_FILE`. `log` answers it, with one line in the log for each; `only` refuses it with `PERSISTED_QUERY_REQUIRED`. REST routes, and what services ask each other, are answered ([decision 0049](decisions/0049-trusted-documents.md)).',
  }),
  file: setting('TRUSTED_DOCUMENTS_FILE', text, {
    fallback: null,
    by: doors,
    does: 'The documents of clients, as `npm run documents` or the tools of Apollo Client write them (a persisted query manifest). It is read at the start and again when it changes; a file that cannot be read is told in one line of the log, and what was known stays. Clients name a document in it by its id, with `off` too.',
  }),
}

/** How operations run. */
export const operations = {
  engine: setting('ROUTER_ENGINE', oneOf('native', 'apollo'), {
    fallback: 'native',
    by: doors,
    does: '`native`, our executor, or `apollo`, the stock `@apollo/gateway`. The latter has queries and mutations only; a subscription is refused ([decision 0001](decisions/0001-engine.md)).',
  }),
  operationMs: setting('OPERATION_TIMEOUT_MS', milliseconds, {
    fallback: 30_000,
    by: doors,
    does: "What all fetches of one operation together may take. A fetch in the router's own process has the time of the operation. A field that says `@patience` has its own time where that is more, and its operation with it. Each event of a subscription has the time of an operation, from when it comes.",
  }),
  planMs: setting('PLANNING_TIMEOUT_MS', milliseconds, {
    fallback: 1_000,
    by: doors,
    does: 'What an operation may take to be planned when it is asked for the first time; usual ones take some milliseconds. One that takes longer is refused with `BAD_USER_INPUT`, its planner, a process of its own, is ended and replaced, and who asks it again within a minute is refused at once ([decision 0052](decisions/0052-planners.md)). Not with the engine `apollo`.',
  }),
  slowMs: setting('SLOW_OPERATION_MS', milliseconds, {
    fallback: 1_000,
    by: doors,
    does: 'Queries and mutations that take so long are logged with their plan, as `a slow operation`: never with the values that the client sent. Not with the engine `apollo`.',
  }),
  answerBytes: setting('ANSWER_BYTES', answerBytes, {
    fallback: 16 * 1024 * 1024,
    by: doors,
    does: "Bytes of one answer, or of one event's: a larger one is refused before it is put together.",
  }),
  maxCost: setting('MAX_COST', cost, {
    fallback: 20_000,
    by: doors,
    does: 'What an operation may be estimated to cost, at least 1000: each object of the answer counts 1, lists multiply, each mutation counts 10 more ([decision 0047](decisions/0047-cost.md)). What may cost more is refused before it is planned, with `OPERATION_TOO_EXPENSIVE`; REST routes are not.',
  }),
}

/** How much callers may keep open. A company behind one address, and a test of load, need other figures than the public. */
export const streams = {
  perAddress: setting('SOCKETS_PER_ADDRESS', quota, {
    fallback: 100,
    by: doors,
    does: 'Open WebSockets of one address, or of one network of IPv6 with 64 bits: one more is closed with 4429, past the double refused with 429.',
  }),
  perViewer: setting('SOCKETS_PER_CALLER', quota, { fallback: 50, by: doors, does: 'Open WebSockets of one person or API key: one more is closed with 4429.' }),
  messages: setting('SOCKET_MESSAGES_PER_SECOND', rate, {
    fallback: 100,
    by: doors,
    does: 'Messages of one WebSocket a second, for as long as it likes, and ten times as many at once: one more closes it with 4429. What a client sends without a pause is read also when it has gone.',
  }),
  perCaller: setting('SUBSCRIPTIONS_PER_CALLER', quota, {
    fallback: 200,
    by: doors,
    does: 'Subscriptions of one person or API key, or of one anonymous address, over all doors: one more is refused with `RATE_LIMITED`.',
  }),
  unansweredMs: setting('STREAMS_UNANSWERED_MS', milliseconds, {
    fallback: 60_000,
    by: doors,
    does: 'How long a stream goes on while identity does not answer whether its session, key or token still stands: then a WebSocket is closed with 1013, and a stream over HTTP ends with `UPSTREAM_FAILED`.',
  }),
  drainMs: setting('STREAM_DRAIN_MS', whole(0, 600_000, 'must be a number of milliseconds up to 600000'), {
    fallback: 30_000,
    by: [...doors, 'subgraph'],
    does: 'How long a process that is to end lets streams of models go on; then each gets the error event and ends, without `[DONE]`. Other requests have 2.5 s. What supervises the process waits for so much longer before it kills it.',
  }),
}
