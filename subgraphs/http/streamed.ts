import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'

/** The streams behind answers: whoever passes an answer on takes them as they are, for each piece costs less than through a web stream. */
const bodies = new WeakMap<Response, Readable>()

/**
 * An answer whose body is a stream of Node's. Whoever reads it by its web stream reads the same; it is to be read by one of the two.
 * An answer that nobody reads is to be left: `readableOf(answer).destroy()`, or `answer.body.cancel()`.
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

/** The bytes of answers that were there at once. */
const wholes = new WeakMap<Response, Buffer>()

/** An answer whose body is a text that is there: whoever passes it on takes its bytes, and no stream of them. Nobody keeps it. */
export function wholeResponse(text: string, type: string, headers: Readonly<Record<string, string>>): Response {
  const answer = new Response(text, { headers: { 'cache-control': 'no-store', ...headers, 'content-type': type } })
  wholes.set(answer, Buffer.from(text))
  return answer
}

/** The whole body of an answer, where it is there at once; null where it is to be read. */
export const wholeOf = (answer: Response): Buffer | null => wholes.get(answer) ?? null

/** The body of an answer, to be passed on; null for none. */
export const readableOf = (answer: Response): Readable | null => bodies.get(answer) ?? (answer.body ? Readable.fromWeb(answer.body as WebStream) : null)
