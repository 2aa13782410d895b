import { oneOf, rate, text } from './readers.ts'
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
