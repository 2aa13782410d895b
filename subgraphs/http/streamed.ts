import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'

/** The Node streams behind answers: forwarding them directly costs less for each piece than through a web stream. */
const bodies = new WeakMap<Response, Readable>()

/**
 * Creates an answer whose body is a Node stream, also readable as a web stream; read only one of the two.
 * Discard an unread answer by `readableOf(answer).destroy()` or `answer.body.cancel()`.
 */
export function streamedResponse(body: Readable, init: ResponseInit): Response {
  let reading: AsyncIterator<Uint8Array> | undefined
  const web = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reading ??= body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
        const { value, done } = await reading.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => void body.destroy(),
    },
    { highWaterMark: 0 },
  )
  const answer = new Response(web, init)
  bodies.set(answer, body)
  return answer
}

/** The bytes of answers that were complete at once. */
const wholes = new WeakMap<Response, Buffer>()

/** Creates an uncacheable answer with a complete text as its body, which is forwarded as bytes without a stream. */
export function wholeResponse(text: string, type: string, headers: Readonly<Record<string, string>>): Response {
  const answer = new Response(text, { headers: { 'cache-control': 'no-store', ...headers, 'content-type': type } })
  wholes.set(answer, Buffer.from(text))
  return answer
}

/** Returns the whole body of an answer that is complete; null for one that must be read. */
export const wholeOf = (answer: Response): Buffer | null => wholes.get(answer) ?? null

/** Returns the body of an answer as a Node stream; null for none. */
export const readableOf = (answer: Response): Readable | null => bodies.get(answer) ?? (answer.body ? Readable.fromWeb(answer.body as WebStream) : null)
