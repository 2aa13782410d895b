import type { Client } from 'graphql-ws'
import { leaveForSignIn, type Session, SignedOut } from '../session/session.ts'
import type { Sink, StreamNotices, StreamRequest } from './sse.ts'

/** The one live connection of a tab. */
export interface Live {
  /** Opens a stream of the graph, as urql asks for one. */
  forward(request: StreamRequest, key: number): { subscribe(sink: Sink): { unsubscribe(): void } }
  /** Tells when the connection came back after it was gone: what was missed is not told again, so pages read anew. */
  onReturn(listener: () => void): () => void
  /** Since when nothing can arrive; null while something can, and before the first stream. */
  since(): number | null
  onChange(listener: () => void): () => void
  /** Begins every stream anew as whoever is signed in now, and has pages read anew. */
  renew(): void
}

/** A tab that nobody sees keeps its connection so long, in ms. */
const hiddenMs = 5 * 60_000
/** The code with which a socket closes whose credentials do not count (any more). */
const unauthorized = 4401
/** After so many openings that came to nothing, streams come over HTTP. */
const maxFailures = 2

type SinkOfClient = Parameters<Client['subscribe']>[1] & Sink

interface Stream {
  readonly request: StreamRequest
  readonly sink: Sink
  stop(): void
}

/** Keeps since when nothing can arrive, and tells its listeners. */
function createOutage() {
  const returns = new Set<() => void>()
  const changes = new Set<() => void>()
  let brokenAt: number | null = null
  const tell = (at: number | null) => {
    brokenAt = at
    for (const listener of changes) listener()
  }
  return {
    tell,
    /** Tells that nothing can arrive, unless that is known. */
    broke: () => tell(brokenAt ?? Date.now()),
    /** Has pages read anew. */
    returned() {
      for (const listener of returns) listener()
    },
    since: () => brokenAt,
    onReturn: (listener: () => void) => added(returns, listener),
    onChange: (listener: () => void) => added(changes, listener),
  }
}

/** Begins a stream as soon as what carries it is loaded: a page is drawn without it. @returns what ends it, begun or not */
function beginLater(loading: Promise<() => () => void>, onFailure: () => void): () => void {
  let isOver = false
  let stop = () => {}
  void loading.then(begin => {
    if (!isOver) stop = begin()
  }, onFailure)
  return () => {
    isOver = true
    stop()
  }
}

/** Adds a listener. @returns what removes it */
function added(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Makes the live connection over a WebSocket, or over HTTP where none can be opened. It opens with the first stream. */
export function createLive(session: Session): Live {
  const streams = new Set<Stream>()
  const { tell, broke, returned, since, onReturn, onChange } = createOutage()
  let [failures, isOpen, wasOpen] = [0, false, false]
  let socket: Promise<Client> | null = null
  let isPaused = false

  const came = () => {
    failures = 0
    isOpen = true
    tell(null)
    if (wasOpen) returned()
    wasOpen = true
  }
  const went = (why: unknown) => {
    if ((why as Partial<CloseEvent>).code === unauthorized) {
      // Streams are not begun again by themselves after this one: with another token they are, without one the person signs in.
      void session.renew().then(restart, error => error instanceof SignedOut && leaveForSignIn())
      return
    }
    if (!isOpen) failures += 1
    isOpen = false
    if (!isPaused) broke()
    if (failures === maxFailures && !wasOpen) restart()
  }

  const overHttp: StreamNotices = {
    opened() {
      if (since() === null) return
      tell(null)
      returned()
    },
    broke,
    signedOut: () => leaveForSignIn(),
  }

  function begin(request: StreamRequest, sink: Sink): () => void {
    if (failures >= maxFailures && !wasOpen)
      return beginLater(
        import('./sse.ts').then(each => () => each.streamOverHttp(request, sink, session, overHttp)),
        broke,
      )
    socket ??= import('./socket.ts').then(({ dial }) => dial(session, { came, went }))
    return beginLater(
      socket.then(client => () => client.subscribe(request, sink as SinkOfClient)),
      broke,
    )
  }

  function open(request: StreamRequest, sink: Sink): Stream {
    let isOver = false
    // A stream that is begun again does not end for whoever listens.
    const isHeard = (error: unknown) => !isOver && (error as Partial<CloseEvent> | null)?.code !== unauthorized
    const guarded: Sink = {
      next: value => isOver || sink.next(value),
      error: error => isHeard(error) && sink.error(error),
      complete: () => isOver || sink.complete(),
    }
    const dispose = begin(request, guarded)
    return {
      request,
      sink,
      stop() {
        isOver = true
        dispose()
      },
    }
  }

  function restart(): void {
    const former = [...streams]
    streams.clear()
    for (const stream of former) stream.stop()
    for (const { request, sink } of former) streams.add(open(request, sink))
  }

  function pause(): void {
    isPaused = true
    for (const stream of streams) stream.stop()
  }
  function resume(): void {
    if (!isPaused) return
    isPaused = false
    const paused = [...streams]
    streams.clear()
    for (const { request, sink } of paused) streams.add(open(request, sink))
    returned()
  }
  let hiding: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(pause, hiddenMs)
    else resume()
  })

  return {
    forward: request => ({
      subscribe(sink) {
        let stream = open(request, sink)
        streams.add(stream)
        return {
          unsubscribe() {
            // It may have been begun again since.
            stream = [...streams].find(each => each.sink === sink) ?? stream
            streams.delete(stream)
            stream.stop()
          },
        }
      },
    }),
    onReturn,
    renew() {
      socket = null
      restart()
      returned()
    },
    since,
    onChange,
  }
}
