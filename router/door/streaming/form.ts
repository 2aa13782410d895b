import type { GraphQLFormattedError } from 'graphql'
import Negotiator from 'negotiator'

/** How the results of a stream are written into the answer of one HTTP request. */
export interface StreamForm {
  readonly name: 'sse' | 'multipart'
  readonly contentType: string
  /** Written at once, so that the client knows that it is heard. */
  readonly begin: string
  /** Written when nothing else was for a while. */
  readonly heartbeat: string
  /** By it an event keeps its frame for everybody who is told in this form. */
  readonly key: symbol
  next(json: string): string
  /** The last word of a stream that ended by itself. */
  readonly complete: string
  /** The last word of one that was ended: a client that goes on asks again. */
  failed(errors: readonly GraphQLFormattedError[]): string
}

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
  key: Symbol('sse'),
  next: json => `event: next\ndata: ${json}\n\n`,
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
  key: Symbol('multipart'),
  next: json => part(`{"payload":${json}}`),
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
