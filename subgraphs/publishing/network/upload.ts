import type { OutboundAnswer, WayOut } from '../../../platform/outbound/outbound.ts'

/** How long a part may take on its way, in ms. */
const partTimeoutMs = 60_000

/** A film or picture in parts of these lengths, in bytes, one after the other: no more than one part is held. @throws when it has fewer bytes */
export async function* cut(bytes: ReadableStream<Uint8Array>, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  const reader = bytes.getReader()
  let rest: Uint8Array = new Uint8Array()
  try {
    for (const length of lengths) {
      const part = new Uint8Array(length)
      let filled = 0
      while (filled < length) {
        if (rest.length === 0) {
          const { value, done } = await reader.read()
          if (done) throw new Error('a medium has fewer bytes than it said')
          rest = value
          continue
        }
        const piece = rest.subarray(0, length - filled)
        part.set(piece, filled)
        filled += piece.length
        rest = rest.subarray(piece.length)
      }
      yield part
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Sends bytes to where a network takes them, and reads its short answer. @throws OutboundFailure */
export async function sendBytes(
  outbound: WayOut,
  url: string,
  body: Uint8Array | ReadableStream<Uint8Array>,
  {
    headers,
    length,
    timeoutMs = partTimeoutMs,
    freshConnection = false,
  }: {
    readonly headers: Readonly<Record<string, string>>
    /** Of the body, in bytes. */
    readonly length: number
    /** Until the whole answer is there. @default 60000 */
    readonly timeoutMs?: number
    readonly freshConnection?: boolean
  },
): Promise<OutboundAnswer> {
  const answer = await outbound.stream(url, {
    method: 'PUT',
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
