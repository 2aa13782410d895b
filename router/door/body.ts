import type { FastifyInstance, FastifyRequest } from 'fastify'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import { DomainError } from '../../platform/errors.ts'
import { isUnwieldy, mostParts } from '../../subgraphs/http/depth.ts'
import { doorRefusal, withStatus } from './errors.ts'
import { limits } from './limits.ts'
import { passBody } from './receiving/passing.ts'
import { areTooSmall, tooSmall } from './receiving/pieces.ts'

/** Maximum bytes of a request body, unless a route sets its own limit. */
export const mostBodyBytes = 1024 * 1024
/**
 * Bytes of a rejected body that are still read: a client that is still writing when the connection closes sees a broken
 * pipe instead of the answer.
 */
const mostDrainedBytes = 16 * 1024 * 1024

/**
 * Limits on the bytes of incomplete request bodies. Their senders are not authenticated yet, so bytes count by address.
 */
export const readingLimits = {
  /** Limit of one address, or of one IPv6 network of 64 bits. */
  addressBytes: 32 * 1024 * 1024,
  /** Limit of this process. */
  processBytes: 256 * 1024 * 1024,
} as const

const reading = new Map<string, number>()
let readingAll = 0

function count(address: string, bytes: number): void {
  readingAll += bytes
  const left = (reading.get(address) ?? 0) + bytes
  if (left > 0) reading.set(address, left)
  else reading.delete(address)
}

/**
 * Reads a whole body. A body above the limit is drained up to 16 MB and then rejected with 413; one that arrives while
 * too many other bodies are incomplete is rejected with 429, or 503.
 * @param limit bytes
 * @param ip    of the sender; null where only our own processes send
 */
export function readBody(stream: NodeJS.ReadableStream, limit: number, ip: string | null = null): Promise<Buffer> {
  const address = ip === null ? null : neighbourhoodOf(ip)
  let held = 0
  const hold = (more: number): DomainError | undefined => {
    if (address === null) return undefined
    if ((reading.get(address) ?? 0) + more > readingLimits.addressBytes)
      return new DomainError('RATE_LIMITED', 'Too much that you send is under way already: let it arrive, then send more.', { retryAfter: 5 })
    if (readingAll + more > readingLimits.processBytes)
      return withStatus(503, new DomainError('RATE_LIMITED', 'Too much of others is being received: send it again in a moment.', { retryAfter: 5 }))
    held += more
    count(address, more)
    return undefined
  }
  const whole = new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let isRefused = false
    let bytes = 0
    let isEnded = false
    let pieces = 0
    const tooLarge = () => doorRefusal(413, `The body is larger than ${limit} bytes: send less at once.`, { limit })
    // Further pieces are discarded and reported once: an error for each small piece would cost more than reading it.
    const refuse = (refusal: DomainError) => {
      isRefused = true
      chunks.length = 0
      reject(refusal)
    }
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > limit && bytes > mostDrainedBytes) {
        stream.pause()
        return refuse(tooLarge())
      }
      if (isRefused) return
      if (areTooSmall(++pieces, bytes)) return refuse(bytes > limit ? tooLarge() : tooSmall())
      const refused = bytes <= limit && hold(chunk.length)
      if (refused) return refuse(refused)
      if (bytes > limit) chunks.length = 0
      else chunks.push(chunk)
    })
    stream.on('end', () => {
      isEnded = true
      if (bytes > limit) reject(tooLarge())
      else resolve(Buffer.concat(chunks))
    })
    stream.on('error', reject)
    // `close` is emitted for every body; only one that did not end is an error.
    stream.on('close', () => isEnded || reject(doorRefusal(400, 'The body ended before it was complete.')))
  })
  return address === null ? whole : whole.finally(() => count(address, -held))
}

/**
 * Adds JSON body parsing to a scope of routes. A body that is not JSON in UTF-8 is rejected with a message; an empty
 * body is undefined.
 * @param limit maximum bytes of a body
 */
export function readJsonBodies(app: FastifyInstance, limit = mostBodyBytes): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') throw doorRefusal(415, `A body with Content-Encoding ${encoding.slice(0, 50)} is not read here: send it as it is.`)
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
    if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset))
      throw doorRefusal(415, `A body in ${charset.slice(0, 50)} is not read here: JSON is written in UTF-8.`)
    const body = await readBody(payload, limit, request.ip)
    if (isDearToParse(body))
      throw doorRefusal(
        400,
        `The body nests lists and objects deeper than ${limits.variables} levels, or has more than ${mostParts} of them: send less of it at once.`,
        { limit: 'variables', most: limits.variables },
      )
    const text = decoded(body)
    if (text.trim() === '') return undefined
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw doorRefusal(400, 'The body is not valid JSON.')
    }
  })
}

/** Maximum nesting of a body: as deep as variables may nest, and the levels around them. */
const deepest = limits.variables + 10

/**
 * Whether parsing JSON from a client would cost more than its length explains: a megabyte of brackets takes 0.4 s, and
 * its sender is not authenticated yet. Short texts are not looked at, because they cost little whatever they hold.
 */
export const isDearToParse = (json: Buffer): boolean => json.length > 16_384 && isUnwieldy(json, deepest)

/** Decodes a body as text. Invalid UTF-8 is rejected: otherwise characters would be stored that nobody wrote. */
function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw doorRefusal(400, 'The body is not valid UTF-8.')
  }
}

/** Makes a scope of routes without request bodies ignore any body, under any Content-Type. */
export const ignoreBodies = (app: FastifyInstance): void => readRawBodies(app, () => mostBodyBytes)

/**
 * Makes a scope of routes receive bodies of every type unparsed.
 * @param limitOf maximum bytes of a request's body
 * @param passes routes that receive the body as a stream, a `PassingBody`
 */
export function readRawBodies(
  app: FastifyInstance,
  limitOf: (request: FastifyRequest) => number,
  passes: (request: FastifyRequest) => boolean = () => false,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) =>
    passes(request) ? passBody(request.raw, limitOf(request)) : readBody(payload, limitOf(request), request.ip),
  )
}
