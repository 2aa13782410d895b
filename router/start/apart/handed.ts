import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'

/**
 * Starts a worker, whose pending connections go to another one when it ends. Errors of the start are emitted as
 * `error`.
 */
export function forkWorker(environment: object): ChildProcess {
  const worker = cluster.fork(environment)
  // Cluster worker and process both emit the error; without this listener the first of them would end this process.
  worker.on('error', () => {})
  handOn(worker.process)
  return worker.process
}

/** Messages of Node's cluster to a worker: a connection is identified by the number under which the worker answers. */
interface Inner {
  readonly cmd?: unknown
  readonly act?: unknown
  readonly seq?: number
  readonly ack?: number
}

const isInner = (message: unknown): message is Inner => (message as Inner | null)?.cmd === 'NODE_CLUSTER'

/**
 * Passes a connection that a worker received, but did not accept before it ended, to the next worker. Node would keep
 * it open without anyone to answer it. A worker reports that it accepts a connection before it reads from it, so
 * nothing is done twice.
 *
 * It relies on internals of `node:cluster`; if they change, behaviour is as without it.
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
