import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'

/** Starts a worker, whose connections are handed on when it ends. What keeps it from starting its process tells (`error`). */
export function forkWorker(environment: object): ChildProcess {
  const worker = cluster.fork(environment)
  // Told by both; where nobody hears the second it ends this process.
  worker.on('error', () => {})
  handOn(worker.process)
  return worker.process
}

/** What Node's cluster says to a worker: of a connection it has the number under which the worker answers. */
interface Inner {
  readonly cmd?: unknown
  readonly act?: unknown
  readonly seq?: number
  readonly ack?: number
}

const isInner = (message: unknown): message is Inner => (message as Inner | null)?.cmd === 'NODE_CLUSTER'

/**
 * Has the connection that a worker was handed, and did not take before it ended, handed to the next one. Node keeps it and forgets it: it would
 * stay open, and nobody would ever answer. A worker says that it takes one before it reads of it, so nothing is done twice.
 *
 * It stands on how `node:cluster` works inside; should that change, all is as it was without.
 */
export function handOn(child: ChildProcess): void {
  // A process that could not start reports why and receives nothing.
  if (child.pid === undefined) return
  const open = new Set<number>()
  const send = child.send.bind(child) as (...words: unknown[]) => boolean
  child.send = (...words: unknown[]) => {
    const [message] = words
    if (isInner(message) && message.act === 'newconn' && message.seq !== undefined) open.add(message.seq)
    return send(...words)
  }
  child.on('internalMessage', (message: unknown) => {
    if (isInner(message) && message.ack !== undefined) open.delete(message.ack)
  })
  // Behind what Node does itself: by then this worker gets no more of them.
  child.once('exit', () =>
    setImmediate(() => {
      for (const seq of open) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false })
    }),
  )
}
