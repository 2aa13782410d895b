import { type Session, SignedOut } from '../session/session.ts'

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

/** What a stream says of its own connection. */
export interface StreamNotices {
  /** The server answers, for the first time or after a break. */
  opened(): void
  /** Nothing arrives until it is open again. */
  broke(): void
  /** Nobody is signed in any more: the stream has stopped for good. */
  signedOut(): void
}

/** Reads a stream of the graph as server-sent events of one POST each, and begins again when it breaks. @returns ends it */
export function streamOverHttp(request: StreamRequest, sink: Sink, session: Session, notices: StreamNotices): () => void {
  const ending = new AbortController()
  void (async () => {
    while (!ending.signal.aborted) {
      try {
        if (await readOnce(request, sink, session, ending.signal, notices.opened)) return
      } catch (error) {
        if (ending.signal.aborted) return
        if (error instanceof SignedOut) return notices.signedOut()
        // Whatever else broke it, it is begun again below.
      }
      if (!ending.signal.aborted) notices.broke()
      await new Promise(resolve => setTimeout(resolve, againMs))
    }
  })()
  return () => ending.abort()
}

/** @returns whether the stream said that it is over @throws SignedOut */
async function readOnce(request: StreamRequest, sink: Sink, session: Session, signal: AbortSignal, opened: () => void): Promise<boolean> {
  const ask = (token: string | null) =>
    fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...(token !== null && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(request),
      signal,
    })
  const first = await ask(await session.token())
  const answer = first.status === 401 ? await ask(await session.renew()) : first
  if (!answer.ok || !answer.body) throw new Error(`the stream was answered ${answer.status}`)
  opened()
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
