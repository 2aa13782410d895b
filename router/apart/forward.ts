import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { addressHeader } from '../../platform/caller/cause.ts'
import { readableOf } from '../../subgraphs/http/streamed.ts'
import { aForward, forForward, forStream, isAddressed, isFor, sealHeader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { readBody } from '../door/body.ts'
import { doorRefusal } from '../door/errors.ts'
import { webHeaders } from '../door/headers.ts'
import { passBody } from '../door/receiving/passing.ts'
import { leavingSignal } from '../door/sending.ts'
import type { Draining } from '../door/streaming/draining.ts'
import type { Seals } from './ask.ts'

/** Maximum bytes of a forwarded request: those of a recording. The router has applied its route's limit before. */
const mostForwardBytes = 32 * 1024 * 1024
/** What a forwarded request needs of the server. */
export interface ForwardDoor {
  readonly subgraph: Subgraph
  readonly readSeal: Seals['read']
  readonly publicUrl: string
  readonly draining: Draining
}

/** Whether a forwarded request's body is streamed: its subgraph decides by the path, and there must be a body. */
export const streams = (subgraph: Subgraph, { headers }: IncomingMessage, target: string): boolean =>
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) && (subgraph.streams ?? []).some(path => target.startsWith(path))

/** Passes a request on to a subgraph's own HTTP, after the router's seal was read that is made for it. */
export async function forward(request: IncomingMessage, response: ServerResponse, target: string, to: ForwardDoor): Promise<void> {
  const { subgraph, readSeal, publicUrl, draining } = to
  const { method = 'GET' } = request
  const headers = webHeaders(request.headers)
  const seal = headers.get(sealHeader)
  headers.delete(sealHeader)
  const head = { method, target, address: headers.get(addressHeader) ?? '' }
  const passing = streams(subgraph, request, target) ? passBody(request, Number.POSITIVE_INFINITY) : null
  if (!passing) await readSeal(seal, isAddressed(aForward(head)))
  const body = passing || method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : await readBody(request, mostForwardBytes)
  const viewer = await readSeal(seal, isFor(passing ? forStream(head) : forForward(head, body)))
  if (!subgraph.http) throw doorRefusal(404, `The service ${subgraph.registration.slug} serves no HTTP beside GraphQL.`)
  const signal = leavingSignal(response)
  const sent = passing ? { body: passing.stream, duplex: 'half' } : body.length > 0 && { body: new Uint8Array(body) }
  const asked = new Request(`${publicUrl}${target}`, { method, headers, signal, redirect: 'manual', ...sent } as RequestInit)
  const answer = await subgraph.http(asked, viewer)
  // No client waits for the answer any more.
  const streamed = readableOf(answer)
  if (response.destroyed) return void streamed?.destroy()
  response.statusCode = answer.status
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) draining.spare(response)
  if (streamed) await pipeline(streamed, response)
  else response.end()
}
