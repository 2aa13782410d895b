import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** How long to wait for a port that ending processes still hold, and the interval of the checks, in ms. */
const soon = { mostMs: 5_000, everyMs: 50 }

/** Whether nothing listens on a port of this machine's loopback addresses. */
export async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '::1'))
}

/** Whether a port is free, or becomes free while processes end that may hold it. */
export async function isFreeSoon(port: number, areEnding: () => boolean): Promise<boolean> {
  for (const until = performance.now() + soon.mostMs; !(await isFree(port)); await wait(soon.everyMs)) {
    // Checked once more, because they may have ended in between.
    if (performance.now() > until || !areEnding()) return isFree(port)
  }
  return true
}

/** Returns the wanted port, or a free one in its place. @param taken ports assigned before; the new one is added */
export async function portFor(wanted: number, taken: Set<number>): Promise<number> {
  let port = wanted
  for (let turn = 0; turn < 100; turn++) {
    if (port > 0 && port <= 65_535 && !taken.has(port) && (await isFree(port))) break
    port = 20_000 + Math.floor(Math.random() * 10_000)
  }
  taken.add(port)
  return port
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE' && error.code !== 'EACCES'))
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
