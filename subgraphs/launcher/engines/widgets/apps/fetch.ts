import { OutboundFailure } from '../../../../../platform/outbound/failure.ts'
import type { WayOut } from '../../../../../platform/outbound/outbound.ts'
import type { FailureCode } from '../reading.ts'
import type { Payload } from '../sources.ts'
import { max, readPayload } from './payload.ts'

/** Time limit of one reading, in ms, from the connection to the last byte. */
export const fetchMs = 3_000

/** A good payload, or why there is none. */
export type Fetched = { readonly payload: Payload } | { readonly code: FailureCode }

/**
 * Reads an app's widget once: no retry, no redirect, a bounded time and size. It never rejects.
 * @param outbound to addresses of third parties, which reaches no private ones
 * @param token    tells the app for whom it is read
 */
export async function fetchWidget(outbound: Pick<WayOut, 'stream'>, url: string, token: string, isDevelopment: boolean): Promise<Fetched> {
  try {
    const answer = await outbound.stream(url, {
      headers: { accept: 'application/json', authorization: `Bearer ${token}` },
      ...{ firstByteMs: fetchMs, idleMs: fetchMs, totalMs: fetchMs, mostBytes: max.bytes },
    })
    if (answer.status !== 200) {
      answer.cancel()
      return { code: 'REFUSED' }
    }
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(answer.headers.get('content-type') ?? '')) {
      answer.cancel()
      return { code: 'INVALID' }
    }
    const parts: Uint8Array[] = []
    for await (const part of answer.body) parts.push(part)
    const payload = readPayload(Buffer.concat(parts).toString('utf8'), isDevelopment)
    return payload ? { payload } : { code: 'INVALID' }
  } catch (error) {
    const kind = error instanceof OutboundFailure ? error.kind : 'broken'
    return { code: kind === 'late' ? 'TIMEOUT' : kind === 'large' ? 'TOO_LARGE' : 'UNREACHABLE' }
  }
}
