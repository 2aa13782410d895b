import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'

/** The headers of a request of node:http in the form of the Fetch standard. @param without names that are left out, in small letters */
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

/** Whether a client would rather have a GraphQL answer in its own media type than as plain JSON. */
export const prefersResponseJson = (accept: string | null | undefined): boolean => preferred(accept, [json, responseJson]) === responseJson

/** Whether a client takes an answer in either of them. */
export const takesJson = (accept: string | null | undefined): boolean => !accept || preferred(accept, [json, responseJson]) !== undefined

/** Whether a client is a browser that shows a page: it prefers HTML to JSON. */
export const prefersHtml = (accept: string | null | undefined): boolean => preferred(accept, [json, responseJson, html]) === html

// With the character set that they are sent in: clients may name it too.
const [json, responseJson, html] = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8', 'text/html; charset=utf-8']

/** The media type that an Accept header prefers; of equal ones the first. */
const preferred = (accept: string | null | undefined, available: string[]): string | undefined =>
  accept ? new Negotiator({ headers: { accept: readAccept(accept) } }).mediaType(available) : undefined

/** Characters of an Accept header that are read: browsers send some two hundred, and reading one of sixteen thousand takes milliseconds. */
const mostAccept = 1000

/** As much of an Accept header as is read: whole media types. */
const readAccept = (accept: string): string => (accept.length <= mostAccept ? accept : accept.slice(0, mostAccept).replace(/,[^,]*$/, ''))

/**
 * The id of a request: what a caller brings in `x-request-id` is kept when it is plain, letters, digits, `_`, `.` and `-`, 8 to 64 of them;
 * behind it may stand the number of an operation of a WebSocket, which a subgraph brings that asks on its behalf.
 */
export function readRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{8,64}(?:\.\d{1,12})?$/.test(given) ? given : randomUUID()
}
