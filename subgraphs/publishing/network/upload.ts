import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { OutboundAnswer, WayOut } from '../../../platform/outbound/outbound.ts'

/** How long a part may take on its way, in ms. */
const partTimeoutMs = 60_000

/** A film or picture that is read in parts, one after the other: no more than one part is held. */
export interface Parts {
  /** The next bytes, so many of them. @throws when there are fewer; OutboundFailure when they cannot be read, for then nothing of them was sent */
  take(length: number): Promise<Uint8Array>
  /** Leaves what is left. */
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
  /** Of the body, in bytes. */
  readonly length: number
  /** Until the whole answer is there. @default 60000 */
  readonly timeoutMs?: number
  /** As `OutboundOptions` has it. @default false */
  readonly freshConnection?: boolean
}

/** Sends bytes to where a network takes them, and reads its short answer. @throws OutboundFailure */
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
