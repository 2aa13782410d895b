import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Call, Pieces, Reply, Takes } from './network.ts'

const mostBytes = 64 * 1024

/**
 * Reads a request with its body; returns undefined when the body exceeds the limit of its network.
 * @param takes returns the limit of the network that a path belongs to
 */
export async function read(request: IncomingMessage, takes: (path: string) => Takes | undefined): Promise<Call | undefined> {
  const url = new URL(request.url ?? '/', 'http://sandbox')
  const { mostBytes: most = mostBytes, mostKept = most } = takes(url.pathname) ?? {}
  const chunks: Buffer[] = []
  let [size, kept] = [0, 0]
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most || kept >= mostKept) continue
    const part = chunk.subarray(0, mostKept - kept)
    kept += part.length
    chunks.push(part)
  }
  if (size > most) return undefined
  return { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, headers: request.headers, body: Buffer.concat(chunks), size }
}

/** Sends an answer in its form of transport; resolves when it is sent or the client is gone. */
export async function deliver(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.delivery === 'hold') return
  if (reply.delivery === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  if (reply.delayMs !== undefined) await new Promise(resolve => setTimeout(resolve, reply.delayMs).unref())
  if (response.destroyed) return
  response.writeHead(reply.status, { 'cache-control': 'no-store', ...reply.headers })
  if (typeof reply.body === 'function') await flow(response, reply.body)
  else response.end(reply.body)
}

async function flow(response: ServerResponse, pieces: Pieces): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.flushHeaders()
  try {
    for await (const piece of pieces(gone.signal)) {
      if (gone.signal.aborted) return
      if (!response.write(piece)) await drained(response, gone.signal)
      // Writes each piece separately, as a server does that produces them one after the other.
      await new Promise(setImmediate)
    }
    response.end()
  } catch {
    response.socket?.resetAndDestroy()
  }
}

const drained = (response: ServerResponse, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const done = (): void => {
      response.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) return resolve()
    response.once('drain', done)
    signal.addEventListener('abort', done)
  })
