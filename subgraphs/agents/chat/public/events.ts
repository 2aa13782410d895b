import { Readable } from 'node:stream'
import { streamedResponse } from '../../../http/streamed.ts'
import type { Begun } from './answer.ts'

/** How often a comment keeps the connection open, in ms. */
const beatMs = 10_000

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** Sends an answer as server-sent events, as it comes. @param leave is called when the visitor leaves */
export function eventsOf({ head, pieces, end }: Begun, leave: () => void, failed: (error: unknown) => object): Response {
  const body = new Readable({
    read() {},
    destroy(error, done) {
      over()
      leave()
      done(error)
    },
  })
  const beat = setInterval(() => body.push(': \n\n'), beatMs)
  const over = () => clearInterval(beat)
  const send = async (): Promise<void> => {
    body.push(event('meta', head))
    let text = ''
    try {
      for await (const piece of pieces) {
        if (body.destroyed) return
        text += piece
        body.push(event('delta', { text: piece }))
      }
      const whole = await end(text)
      if (!body.destroyed) body.push(event('done', whole))
    } catch (error) {
      if (!body.destroyed) body.push(event('error', failed(error)))
    }
    over()
    if (!body.destroyed) body.push(null)
  }
  void send()
  return streamedResponse(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}
