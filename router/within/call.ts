import {
  type CallAs,
  type CallOptions,
  type CallService,
  type CallStream,
  type CallStreamOptions,
  type CallWhole,
  usualCallMs,
  usualStreamMs,
} from '../../platform/ask.ts'
import { OutboundFailure } from '../../platform/outbound/failure.ts'
import type { StreamedAnswer } from '../../platform/outbound/stream.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { IsMember } from '../access/known/members.ts'
import { requireMember } from './ask.ts'

/** Maximum bytes of a whole answer. */
const mostBytes = 1024 * 1024

/**
 * Creates the client by which a service calls routes of other subgraphs within one process. The called subgraph checks
 * the service's rights, as for every service of the platform.
 * @param isMember checks that the person for whom a call is made is a member of the organization
 */
export function createCall(subgraphs: readonly Pick<Subgraph, 'registration' | 'http'>[], publicUrl: string, isMember: IsMember): CallService {
  const bySlug = new Map<string, Pick<Subgraph, 'http'>>(subgraphs.map(subgraph => [subgraph.registration.slug, subgraph]))
  const known = new Map(subgraphs.map(({ registration: { appId, asks } }) => [appId, asks]))

  /** Finds the route and the caller. @returns a function that makes the call, until the signal aborts */
  const open = async (path: string, { appId, organizationId, forUser = null }: CallAs, { method = 'GET', headers = {}, body = null }: CallOptions) => {
    const url = new URL(path, publicUrl)
    const slug = url.pathname.split('/')[1]!
    const scopes = known.get(appId)
    const subgraph = bySlug.get(slug)
    if (!scopes) throw new Error(`${appId} is not registered, so it may not call`)
    if (!subgraph?.http) throw new Error(`${slug} answers no rows by itself`)
    if (forUser !== null) await requireMember(isMember, { userId: null, organizationId }, forUser)
    const context = organizationId === null ? 'personal' : 'organization'
    const viewer: Viewer = { ...anonymous, kind: 'service', appId, organizationId, forUser, scopes, context }
    const call = (signal: AbortSignal) => subgraph.http!(new Request(url, { method, headers, body: body as BodyInit | null, signal }), viewer)
    return { slug, call }
  }

  const whole: CallWhole = async (path, as, options = {}) => {
    const { timeoutMs = usualCallMs } = options
    const { slug, call } = await open(path, as, options)
    const late = Promise.withResolvers<never>()
    const over = new AbortController()
    const timer = setTimeout(() => {
      late.reject(lateAfter(slug, timeoutMs))
      over.abort()
    }, timeoutMs)
    const answered = async () => {
      const response = await call(over.signal)
      return { status: response.status, headers: response.headers, text: await textOf(response, slug) }
    }
    const answer = answered()
    answer.catch(() => {})
    try {
      return await Promise.race([answer, late.promise])
    } catch (error) {
      if (error instanceof OutboundFailure) throw error
      throw new OutboundFailure(`${slug} could not be asked`, true, error)
    } finally {
      clearTimeout(timer)
    }
  }
  const stream: CallStream = async (path, as, options = {}) => {
    const { slug, call } = await open(path, as, options)
    return streamed(slug, call, options)
  }
  return Object.assign(whole, { stream })
}

const lateAfter = (slug: string, ms: number) => new OutboundFailure(`${slug} could not be asked: no answer within ${ms} ms`, true, undefined, 'late')

/**
 * Streams an answer, and ends the call with its signal, its time limit or its reader: no socket or timer remains then.
 */
async function streamed(
  slug: string,
  call: (signal: AbortSignal) => Promise<Response>,
  { idleMs = usualStreamMs.idleMs, totalMs = usualStreamMs.totalMs, signal }: CallStreamOptions,
): Promise<StreamedAnswer> {
  const over = new AbortController()
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  let due: NodeJS.Timeout | undefined
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const finish = () => {
    clearTimeout(due)
    clearTimeout(total)
    signal?.removeEventListener('abort', leave)
  }
  const fail = (failure: OutboundFailure) => {
    finish()
    ended.reject(failure)
    over.abort(failure)
    reader?.cancel(failure).catch(() => {})
  }
  const left = (why: string, cause?: unknown) => fail(new OutboundFailure(`${slug} could not be asked: ${why}`, true, cause, 'left'))
  const leave = () => left('nobody waits any more', signal?.reason)
  const total = setTimeout(() => fail(lateAfter(slug, totalMs)), totalMs)
  /** Waits for the next piece, up to the time limit. */
  const within = async <Value>(work: Promise<Value>): Promise<Value> => {
    clearTimeout(due)
    due = setTimeout(() => fail(lateAfter(slug, idleMs)), idleMs)
    try {
      return await Promise.race([work, ended.promise])
    } catch (error) {
      if (!over.signal.aborted) fail(new OutboundFailure(`${slug} could not be asked: its answer was cut off`, true, error))
      return await ended.promise
    } finally {
      clearTimeout(due)
    }
  }
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  const calling = signal?.aborted ? ended.promise : call(over.signal)
  // If the caller has left, the late answer is discarded.
  calling.then(({ body }) => (over.signal.aborted ? body?.cancel() : undefined)).catch(() => {})
  const { status, headers, body } = await within(calling)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    reader = body?.getReader()
    try {
      for (;;) {
        const next = reader ? await within(reader.read()) : { done: true as const, value: undefined }
        if (next.done) return finish()
        yield next.value
      }
    } finally {
      if (!over.signal.aborted) left('its answer was left')
    }
  }
  return { status, headers, body: pieces(), cancel: () => left('its answer was left') }
}

async function textOf(response: Response, slug: string): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.byteLength
    if (size > mostBytes) throw new OutboundFailure(`${slug} answered with more than ${mostBytes} bytes`, true, undefined, 'large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
