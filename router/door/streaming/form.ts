import type { GraphQLFormattedError } from 'graphql'
import Negotiator from 'negotiator'
import type { Frame } from '../../live/shared/message.ts'

/** Format in which the results of a stream are written into one HTTP answer. */
export interface StreamForm {
  readonly name: 'sse' | 'multipart'
  readonly contentType: string
  /** Written at once, so that the client knows that the request arrived. */
  readonly begin: string
  /** Written when nothing else was written for a while. */
  readonly heartbeat: string
  next(json: string): string
  /** The heartbeat as one chunk of an answer. */
  readonly chunk: Frame
  /** The last word of a stream that ended by itself. */
  readonly complete: string
  /** Writes the last event of a stream that was cut off: its client may reconnect. */
  failed(errors: readonly GraphQLFormattedError[]): string
}

/** Wraps a text in a chunk of HTTP/1.1 (RFC 9112, section 7.1). */
const chunkOf = (text: string): Buffer => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)

/**
 * Server-sent events in the distinct connections mode of GraphQL over SSE
 * (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md). A stream that was cut off gets no `complete`
 * event, after which clients would not reconnect.
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
/** Writes a part with the boundary behind it, because readers treat a part as complete only then. */
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
 * Returns the stream format that a client's Accept header requests: SSE when it is preferred to JSON, and multipart for
 * a subscription when the header names Apollo's protocol. Null for neither.
 */
export function streamFormOf(accept: string | null | undefined, isSubscription: boolean): StreamForm | null {
  if (!accept) return null
  if (isSubscription && namesMultipart(accept)) return multipart
  // It compares parameters, and that of the form of payloads belongs to no type.
  const types = accept.replace(formParameter, '$1')
  const [preferred] = new Negotiator({ headers: { accept: types } }).mediaTypes([...json, 'text/event-stream'])
  return preferred === 'text/event-stream' ? sse : null
}

const formParameter = /(text\/event-stream)\s*;\s*(?:defer|incremental)Spec\s*=\s*"?[\w.]+"?/gi

const namesMultipart = (accept: string): boolean => /(?:^|,)\s*multipart\/mixed\s*;[^,]*subscriptionSpec\s*=\s*"?1\.0"?\s*(?:;|,|$)/i.test(accept)
