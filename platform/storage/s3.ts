import { Readable } from 'node:stream'
import { AwsV4Signer } from 'aws4fetch'
import type { StreamBody, StreamedAnswer, StreamOutbound } from '../outbound/stream.ts'
import { checkedKey, NotStored, type OpenStorage, piecesOf, type Storage } from './storage.ts'

/** Address and credentials of a bucket. */
export interface S3Settings {
  /** Endpoint without a trailing slash. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket's name is in the path, as many self-hosted servers need, or before the host. */
  readonly pathStyle: boolean
}

/** Returns the address of a bucket, which outbound calls must be allowed to reach. */
export function addressOfBucket({ endpoint, bucket, pathStyle }: Pick<S3Settings, 'endpoint' | 'bucket' | 'pathStyle'>): string {
  if (pathStyle) return `${endpoint}/${bucket}`
  const address = new URL(endpoint)
  return `${address.protocol}//${bucket}.${address.host}${address.pathname.replace(/\/$/, '')}`
}

/** Time limits in ms for a bucket to begin its answer: to a request, and to a completely sent object. */
const patience = { asked: 10_000, given: 30_000 } as const

/** Maximum bytes that are read of an error document. */
const mostRead = 16 * 1024

/**
 * Stores objects in a bucket of any S3-compatible server (https://docs.aws.amazon.com/AmazonS3/latest/API), by signed
 * requests (Signature Version 4). Bodies are streamed and not signed: TLS protects them. Nothing is retried here.
 */
export function createS3Storage(settings: S3Settings, stream: StreamOutbound): OpenStorage {
  const base = addressOfBucket(settings)
  const { accessKeyId, secretAccessKey, region } = settings
  const ask = async (method: string, key: string, headers: Record<string, string> = {}, body: StreamBody | null = null): Promise<StreamedAnswer> => {
    const signed = await new AwsV4Signer({ method, url: `${base}/${key}`, headers, accessKeyId, secretAccessKey, region, service: 's3' }).sign()
    return stream(signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      body,
      firstByteMs: method === 'PUT' ? patience.given : patience.asked,
      totalMs: Number.POSITIVE_INFINITY,
      mostBytes: Number.POSITIVE_INFINITY,
    })
  }
  return prefix =>
    ({
      async put(key, body, { contentType, bytes }) {
        const headers = { 'content-type': contentType, 'content-length': String(bytes) }
        const answer = await ask('PUT', checkedKey(prefix, key), headers, body instanceof Uint8Array ? body : piecesOf(body, bytes))
        if (answer.status !== 200) throw await failure('kept', key, answer)
        answer.cancel()
      },
      async get(key, range) {
        const answer = await ask('GET', checkedKey(prefix, key), range && { range: `bytes=${range.first}-${range.last}` })
        if (answer.status !== (range ? 206 : 200)) throw await failure('read', key, answer)
        return Readable.toWeb(Readable.from(answer.body, { objectMode: false })) as ReadableStream<Uint8Array>
      },
      async stat(key) {
        const answer = await ask('HEAD', checkedKey(prefix, key))
        answer.cancel()
        if (answer.status === 200) return { bytes: Number(answer.headers.get('content-length')) }
        if (answer.status !== 404) throw new Error(`${key} could not be looked at: the bucket answered ${answer.status}`)
        // A HEAD response does not say whether the object or the bucket is missing, so one byte is requested.
        const told = await ask('GET', checkedKey(prefix, key), { range: 'bytes=0-0' })
        if (told.status === 404) {
          const why = await failure('looked at', key, told)
          if (!(why instanceof NotStored)) throw why
        }
        told.cancel()
        return null
      },
      async remove(key) {
        const answer = await ask('DELETE', checkedKey(prefix, key))
        if (answer.status >= 300) {
          const why = await failure('removed', key, answer)
          if (!(why instanceof NotStored)) throw why
        }
        answer.cancel()
      },
    }) satisfies Storage
}

/**
 * Returns the error for a bucket's error answer, without the request's headers; `NotStored` where the object is
 * missing.
 */
async function failure(what: string, key: string, answer: StreamedAnswer): Promise<Error> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of answer.body) {
    pieces.push(piece)
    bytes += piece.byteLength
    if (bytes > mostRead) break
  }
  const code = /<Code>(\w{1,80})<\/Code>/.exec(Buffer.concat(pieces).toString('utf8'))?.[1] ?? 'no code'
  if (answer.status === 404 && code === 'NoSuchKey') return new NotStored(key)
  return new Error(`${key} could not be ${what}: the bucket answered ${answer.status}, ${code}`)
}
