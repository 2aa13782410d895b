import type { ExecutionResult } from 'graphql'
import { Agent } from 'undici'
import { isData } from '../../data/merge.ts'
import type { ResultStream } from '../../engine.ts'
import { isBottomless, readRefusal, readResult } from '../answer.ts'
import { UpstreamFailure } from '../exchange.ts'
import { begin, type HttpStart } from './begin.ts'
import { type BodyReader, createEventReader } from './events.ts'
import { ordinary, refusalIn } from './ordinary.ts'
import { createPartReader } from './parts.ts'
import { brokenOff, createResults, failed, messageBytes, type Results } from './results.ts'

export interface HttpSubscription extends HttpStart {
  readonly form: 'sse' | 'multipart'
}

/** Connections for subscriptions over HTTP: a dead one is noticed by TCP, since the protocols have no pings. */
export const openStreamAgent = (keepAliveMs: number): Agent =>
  new Agent({ connect: { timeout: 5000, keepAlive: true, keepAliveInitialDelay: keepAliveMs }, pipelining: 0, headersTimeout: 0, bodyTimeout: 0 })

const accepts = {
  // Alone: the protocol's own server takes anything else for another mode of it.
  sse: 'text/event-stream',
  multipart: 'multipart/mixed;subscriptionSpec="1.0", application/graphql-response+json;q=0.9, application/json;q=0.9',
} as const

/**
 * Subscribes at a subgraph by an HTTP answer that goes on: server-sent events in the distinct connections mode of
 * GraphQL over SSE (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md), or Apollo's multipart protocol
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol). Resolves when the
 * answer begins; an ordinary answer is a rejection, and resolves to its errors. The stream ends with an error result when
 * the answer is cut off: it never resubscribes, because events may have been lost meanwhile. `return()` closes the
 * connection at once.
 * @throws UpstreamFailure when no answer begins
 */
export async function subscribeOverHttp(subscription: HttpSubscription): Promise<ResultStream | ExecutionResult> {
  const { form, signal } = subscription
  const cut = new AbortController()
  const results = createResults(() => {
    signal.removeEventListener('abort', leave)
    cut.abort()
  })
  const leave = () => results.end()
  signal.addEventListener('abort', leave)
  let isStream = false
  try {
    return await begin(subscription, {
      accept: accepts[form],
      cut,
      async read(answer) {
        const open = answer.statusCode === 200 ? readerOf(form, String(answer.headers['content-type'] ?? '')) : undefined
        // Anything else than a stream is an answer in its place, most often a rejection.
        if (!open) {
          const refused = refusalIn((await ordinary(answer)) ?? undefined)
          if (refused) return refused
          throw new UpstreamFailure('answered', `It answered ${answer.statusCode} with no stream`)
        }
        isStream = true
        answer.body.on('error', () => {})
        void follow(answer.body, open(results), results)
        return results.stream
      },
    })
  } finally {
    if (!isStream) results.end()
  }
}

/** Returns what reads an answer of a media type; undefined when it is no stream of the form that was asked for. */
function readerOf(form: HttpSubscription['form'], type: string): ((results: Results) => BodyReader) | undefined {
  if (form === 'sse') return /^text\/event-stream\b/i.test(type) ? readEvents : undefined
  if (!/^multipart\/mixed\b/i.test(type)) return undefined
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type) ?? []
  return results => readParts(results, quoted ?? plain ?? '-')
}

const readEvents = (results: Results): BodyReader =>
  createEventReader(messageBytes, ({ event, data, length }) => {
    if (event === 'complete') return results.end()
    // Servers that do not know the protocol's names send results as nameless events.
    if (event !== 'next' && event !== 'message') return
    const value = parsed(data)
    if (!isData(value)) throw new Error('an event is no JSON object')
    results.add(readResult(value) ?? { errors: [] }, length)
  })

const readParts = (results: Results, boundary: string): BodyReader =>
  createPartReader(boundary, messageBytes, part => {
    if (part === null) return results.end()
    const value = parsed(part.text)
    if (!isData(value)) throw new Error('a part is no JSON object')
    const { payload, errors } = value
    // Errors beside the payload end the stream; an object without either is a sign of life.
    if (isData(payload)) results.add(readResult(payload) ?? { errors: [] }, part.bytes)
    if (errors !== undefined) results.end(readRefusal(errors) ?? failed('The subscription was ended without a reason.'))
  })

function parsed(text: string): unknown {
  if (isBottomless(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a stream to its end. One that breaks off, or holds something else, is lost. */
async function follow(body: AsyncIterable<Uint8Array>, reader: BodyReader, results: Results): Promise<void> {
  try {
    for await (const chunk of body) {
      reader.read(chunk)
      if (results.isEnded()) return
    }
  } catch {
    // It ends as if it had been cut off.
  }
  results.end(brokenOff(), 'lost')
}
