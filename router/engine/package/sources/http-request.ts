import { Agent, request as askHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as askHttps, Agent as SecureAgent } from 'node:https'
import { credentialsOf } from '../../transport/addresses.ts'
import type { Fetcher, FetcherRequestInit, FetcherResponse } from '../types.ts'

/** An HTTP answer, read completely. */
export interface PlainAnswer {
  readonly status: number
  readonly statusText: string
  /** By name in lower case. */
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Connections are kept alive, any number to one host, as Node's own agents have it. */
const agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new SecureAgent({ keepAlive: true }) }

/** A body that is a query: it may be sent again. Fetches of the engine begin so. */
const isQuery = (body: FetcherRequestInit['body']): boolean => typeof body === 'string' && /^\{"query":"(?:query\b|\{)/.test(body)

/**
 * Sends a request and reads the whole answer. Redirects are not followed. A server may close a kept connection in the
 * moment in which it is used again: then a query is sent once more, on another one.
 * @throws Error when no answer arrives, or it breaks off
 */
export async function send(url: string, init: FetcherRequestInit): Promise<PlainAnswer> {
  try {
    return await sendOnce(url, init)
  } catch (failure) {
    if (!(failure as { wasKept?: boolean }).wasKept || !isQuery(init.body)) throw failure
    return sendOnce(url, init)
  }
}

function sendOnce(url: string, { method = 'GET', headers = {}, body, signal }: FetcherRequestInit): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const target = new URL(url)
    const isSecure = target.protocol === 'https:'
    const [name, value] = credentialsOf(target)
    const all = { accept: '*/*', ...(name && value && { [name]: value }), ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) }
    const options = { method, headers: all, agent: agents[isSecure ? 'https:' : 'http:'], ...(signal && { signal }) }
    let wasKept = false
    const failed = (cause: Error) =>
      reject(Object.assign(new Error(`request to ${target.origin}${target.pathname} failed, reason: ${reasonOf(cause)}`, { cause }), { wasKept }))
    const taken = (message: IncomingMessage) => {
      const pieces: Buffer[] = []
      message.on('data', piece => pieces.push(piece as Buffer))
      message.on('error', failed)
      message.on('aborted', () => failed(new Error('the connection was cut')))
      message.on('end', () => {
        const text = pieces.length === 1 ? pieces[0]!.toString('utf8') : Buffer.concat(pieces).toString('utf8')
        resolve({ status: message.statusCode!, statusText: message.statusMessage ?? '', headers: message.headers, text })
      })
    }
    const sent: ClientRequest = isSecure ? askHttps(target, options, taken) : askHttp(target, options, taken)
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      wasKept = sent.reusedSocket && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')
      failed(cause)
    })
    sent.end(body)
  })
}

/** Several failures of one connection, one for each address of its host, have a text in the first of them alone. */
const reasonOf = (cause: Error): string =>
  cause.message || (cause as { errors?: Error[] }).errors?.[0]?.message || (cause as NodeJS.ErrnoException).code || cause.name

/** Reads JSON. @throws Error naming the address */
export function readJson(url: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`invalid json response body at ${url} reason: ${(cause as Error).message}`, { cause })
  }
}

const bodyless = new Set([101, 204, 205, 304])

/** The default fetcher of data sources: over kept connections, with the platform's `Response`. */
export const plainFetcher: Fetcher = async (url, init = {}) => {
  const answer = await send(url, init)
  const { status, statusText, headers } = answer
  if (status >= 300 && status < 400 && headers.location) return (await fetch(url, init as RequestInit)) as unknown as FetcherResponse
  const named = new Headers()
  for (const [name, value] of Object.entries(headers)) for (const each of [value ?? []].flat()) named.append(name, each)
  const response = new Response(bodyless.has(status) ? null : answer.text, { status, statusText, headers: named })
  Object.defineProperties(response, { url: { value: url }, json: { value: async () => readJson(url, await response.text()) } })
  return response as unknown as FetcherResponse
}
