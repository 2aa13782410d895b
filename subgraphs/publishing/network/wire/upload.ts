import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer, WayOut } from '../../../../platform/outbound/outbound.ts'

/** Timeout of sending a part, in ms. */
const partTimeoutMs = 60_000

/** Reads a film or picture in consecutive parts, holding at most one part in memory. */
export interface Parts {
  /**
   * Returns the next bytes, exactly `length` of them. @throws when fewer are left; OutboundFailure when they cannot be
   * read, because then none of them was sent
   */
  take(length: number): Promise<Uint8Array>
  /** Closes the file without reading the rest. */
  close(): Promise<void>
}

export function inParts(bytes: ReadableStream<Uint8Array>): Parts {
  const reader = bytes.getReader()
  let rest: Uint8Array = new Uint8Array()
  return {
    async take(length) {
      const part = new Uint8Array(length)
      for (let filled = 0; filled < length; ) {
        if (rest.length === 0) {
          const { value, done } = await reader.read().catch(cause => {
            throw new OutboundFailure('a medium could not be read', false, cause)
          })
          if (done) throw new Error('a medium has fewer bytes than it said')
          rest = value
        }
        const piece = rest.subarray(0, length - filled)
        part.set(piece, filled)
        filled += piece.length
        rest = rest.subarray(piece.length)
      }
      return part
    },
    close: () => reader.cancel().catch(() => {}),
  }
}

interface Sending {
  /** @default PUT */
  readonly method?: 'PUT' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Length of the body, in bytes. */
  readonly length: number
  /** Timeout until the whole answer is received, in ms. @default 60000 */
  readonly timeoutMs?: number
  /** Same meaning as in `OutboundOptions`. @default false */
  readonly freshConnection?: boolean
}

/** Sends bytes to a network's upload address, and reads the short answer. @throws OutboundFailure */
export async function sendBytes(
  outbound: WayOut,
  url: string,
  body: Uint8Array | ReadableStream<Uint8Array>,
  { method = 'PUT', headers, length, timeoutMs = partTimeoutMs, freshConnection = false }: Sending,
): Promise<OutboundAnswer> {
  const answer = await outbound.stream(url, {
    method,
    headers: { ...headers, 'content-length': String(length) },
    body,
    firstByteMs: timeoutMs,
    totalMs: timeoutMs,
    mostBytes: 1024 * 1024,
    freshConnection,
  })
  const parts: Uint8Array[] = []
  for await (const part of answer.body) parts.push(part)
  return { status: answer.status, headers: answer.headers, text: Buffer.concat(parts).toString('utf8') }
}
