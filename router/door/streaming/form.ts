import type { GraphQLFormattedError } from 'graphql'
import Negotiator from 'negotiator'
import type { Frame } from '../../live/shared/told.ts'

/** How the results of a stream are written into the answer of one HTTP request. */
export interface StreamForm {
  readonly name: 'sse' | 'multipart'
  readonly contentType: string
  /** Written at once, so that the client knows that it is heard. */
  readonly begin: string
  /** Written when nothing else was for a while. */
  readonly heartbeat: string
  next(json: string): string
  /** The same as one chunk of an answer. */
  readonly chunk: Frame
  /** The last word of a stream that ended by itself. */
  readonly complete: string
  /** The last word of one that was ended: a client that goes on asks again. */
  failed(errors: readonly GraphQLFormattedError[]): string
}

/** As HTTP/1.1 has it (RFC 9112, section 7.1). */
const chunkOf = (text: string): Buffer => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)

/**
 * Server-sent events in the distinct connections mode of GraphQL over SSE
 * (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md). Whoever is cut off hears no `complete`, after which its clients
 * would not come back.
 */
export const sse: StreamForm = {
  name: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  begin: ':\n\n',
  heartbeat: ':\n\n',
  next: json => `event: next\ndata: ${json}\n\n`,
  chunk: json => chunkOf(sse.next(json)),
  complete: 'event: complete\ndata:\n\n',
  failed: errors => sse.next(JSON.stringify({ errors })),
}

const boundary = '\r\n--graphql'
/** A part is whole for its reader once the boundary behind it has come. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${boundary}`

/** Apollo's protocol of subscriptions over multipart answers, version 1.0 (Apollo Router, "HTTP multipart"). */
export const multipart: StreamForm = {
  name: 'multipart',
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"',
  begin: boundary,
  heartbeat: part('{}'),
  next: json => part(`{"payload":${json}}`),
  chunk: json => chunkOf(multipart.next(json)),
  complete: '--\r\n',
  failed: errors => `${part(JSON.stringify({ payload: null, errors }))}--\r\n`,
}

const json = ['application/json', 'application/graphql-response+json']

/**
 * The form that a client asks for by its Accept header: SSE when it prefers that to JSON, and multipart for a subscription when it names
 * Apollo's protocol. Null: neither.
 */
export function streamFormOf(accept: string | null | undefined, isSubscription: boolean): StreamForm | null {
  if (!accept) return null
  if (isSubscription && namesMultipart(accept)) return multipart
  const [preferred] = new Negotiator({ headers: { accept } }).mediaTypes([...json, 'text/event-stream'])
  return preferred === 'text/event-stream' ? sse : null
}

const namesMultipart = (accept: string): boolean => /(?:^|,)\s*multipart\/mixed\s*;[^,]*subscriptionSpec\s*=\s*"?1\.0"?\s*(?:;|,|$)/i.test(accept)
