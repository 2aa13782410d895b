import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'

/**
 * Converts the headers of a node:http request to the Fetch standard's form. @param without names to omit, in lower case
 */
export function webHeaders(incoming: IncomingHttpHeaders, without?: ReadonlySet<string>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming)) {
    if (value === undefined || name.startsWith(':') || without?.has(name)) continue
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each)
  }
  const accept = headers.get('accept')
  if (accept !== null && accept.length > mostAccept) headers.set('accept', readAccept(accept))
  return headers
}

/** Whether a client prefers a GraphQL answer in GraphQL's own media type to plain JSON. */
export const prefersResponseJson = (accept: string | null | undefined): boolean => preferred(accept, [json, responseJson]) === responseJson

/** Whether a client accepts either of the two JSON media types. */
export const takesJson = (accept: string | null | undefined): boolean => !accept || preferred(accept, [json, responseJson]) !== undefined

/** Whether a client is a browser that shows a page: it prefers HTML to JSON. */
export const prefersHtml = (accept: string | null | undefined): boolean => preferred(accept, [json, responseJson, html]) === html

// With the character set that they are sent in: clients may name it too.
const [json, responseJson, html] = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8', 'text/html; charset=utf-8']

/** Returns the media type that an Accept header prefers; of equal ones the first. */
const preferred = (accept: string | null | undefined, available: string[]): string | undefined =>
  accept ? new Negotiator({ headers: { accept: readAccept(accept) } }).mediaType(available) : undefined

/**
 * Maximum characters of an Accept header that are read: browsers send about two hundred, and parsing sixteen thousand
 * takes milliseconds.
 */
const mostAccept = 1000

/** Cuts an Accept header to the maximum length, after a whole media type. */
const readAccept = (accept: string): string => (accept.length <= mostAccept ? accept : accept.slice(0, mostAccept).replace(/,[^,]*$/, ''))

/**
 * Returns the id of a request. An `x-request-id` of the caller is used when it consists of 8 to 64 letters, digits,
 * `_`, `.` and `-`; a WebSocket operation's number may follow, which a subgraph sends that calls on the operation's
 * behalf.
 */
export function readRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{8,64}(?:\.\d{1,12})?$/.test(given) ? given : randomUUID()
}
