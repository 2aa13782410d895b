import type { Session } from '../session/session.ts'

/** An operation whose answers come one after another. */
export interface StreamRequest {
  readonly query: string
  readonly variables: Record<string, unknown>
}

/** What takes them. */
export interface Sink {
  next(value: unknown): unknown
  error(error: unknown): unknown
  complete(): unknown
}

const againMs = 3000

/** Reads a stream of the graph as server-sent events of one POST each, and begins again when it breaks. @returns ends it */
export function streamOverHttp(request: StreamRequest, sink: Sink, session: Session): () => void {
  const ending = new AbortController()
  void (async () => {
    while (!ending.signal.aborted) {
      try {
        if (await readOnce(request, sink, await session.token(), ending.signal)) return
      } catch {
        // It is begun again below.
      }
      await new Promise(resolve => setTimeout(resolve, againMs))
    }
  })()
  return () => ending.abort()
}

/** @returns whether the stream said that it is over */
async function readOnce(request: StreamRequest, sink: Sink, token: string | null, signal: AbortSignal): Promise<boolean> {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...(token !== null && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(request),
    signal,
  })
  if (!answer.ok || !answer.body) throw new Error(`the stream was answered ${answer.status}`)
  let text = ''
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return false
    text += value
    const events = text.split('\n\n')
    text = events.pop()!
    for (const event of events) {
      const name = /^event: ?(.*)$/m.exec(event)?.[1]
      const data = /^data: ?(.*)$/m.exec(event)?.[1]
      if (name === 'complete') {
        sink.complete()
        return true
      }
      if (name === 'next' && data) sink.next(JSON.parse(data))
    }
  }
}
