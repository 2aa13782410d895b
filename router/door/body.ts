import type { FastifyInstance, FastifyRequest } from 'fastify'
import { doorRefusal } from './errors.ts'

/** The most that a body may have, in bytes, unless a row says otherwise. */
export const mostBodyBytes = 1024 * 1024
/** How much of a refused body is still read: a client that writes while the door closes sees a broken pipe instead of the answer. */
const mostDrainedBytes = 16 * 1024 * 1024

/**
 * Reads a body whole. One that is too large is read to its end, up to 16 MB, and then refused with 413.
 * @param limit bytes
 */
export function readBody(stream: NodeJS.ReadableStream, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const tooLarge = () => reject(doorRefusal(413, `The body is larger than ${limit} bytes: send less at once.`, { limit }))
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limit) chunks.push(chunk)
      else chunks.length = 0
      if (bytes > mostDrainedBytes) {
        stream.pause()
        tooLarge()
      }
    })
    stream.on('end', () => (bytes > limit ? tooLarge() : resolve(Buffer.concat(chunks))))
    stream.on('error', reject)
    stream.on('close', () => reject(doorRefusal(400, 'The body ended before it was complete.')))
  })
}

/** Teaches a scope of routes to read JSON bodies. What is not JSON in UTF-8 is refused with a sentence, an empty body is undefined. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') throw doorRefusal(415, `A body with Content-Encoding ${encoding.slice(0, 50)} is not read here: send it as it is.`)
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
    if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset))
      throw doorRefusal(415, `A body in ${charset.slice(0, 50)} is not read here: JSON is written in UTF-8.`)
    const text = decoded(await readBody(payload, mostBodyBytes))
    if (text.trim() === '') return undefined
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw doorRefusal(400, 'The body is not valid JSON.')
    }
  })
}

/** A body as text. What is no UTF-8 would be stored with signs in it that nobody wrote. */
function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw doorRefusal(400, 'The body is not valid UTF-8.')
  }
}

/** Teaches a scope of routes that take no body to read past whatever comes, under whatever Content-Type. */
export const ignoreBodies = (app: FastifyInstance): void => readRawBodies(app, () => mostBodyBytes)

/** Teaches a scope of routes to hand over bodies of every type as they came. @param limitOf bytes that a request's body may have */
export function readRawBodies(app: FastifyInstance, limitOf: (request: FastifyRequest) => number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => readBody(payload, limitOf(request)))
}
