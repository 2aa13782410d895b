import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A way to a server that a test can make fall silent: connections stay open and carry nothing, as when a firewall forgot them. */
export interface TcpProxy extends AsyncDisposable {
  /** The address of the server, by way of the proxy. */
  readonly url: string
  /** How many connections are open. */
  readonly size: number
  /**
   * Carries nothing any more over the connections that are open; new ones work.
   * @param most how many, the oldest first @default all
   */
  silence(most?: number): void
  /** Lets new connections be silent from their first byte on, or no more. */
  silenceNew(silent: boolean): void
  /** Carries again what new connections that were silent have to say. */
  speak(): void
  /** Carries everything later than it came, in either direction. @param ms 0 for no longer */
  delay(ms: number): void
  /** Cuts the connections that are open. */
  cut(): void
  /** Cuts new connections at once, or no more. */
  refuse(refused: boolean): void
}

export async function tcpProxy(to: string): Promise<TcpProxy> {
  const target = new URL(to)
  const pairs = new Map<Socket, Socket>()
  const held: (() => void)[] = []
  let mute = false
  let refusing = false
  let delayMs = 0
  const delayed = () =>
    new Transform({
      transform: (chunk, _, done) => (delayMs === 0 ? done(null, chunk) : void setTimeout(done, delayMs, null, chunk)),
    })
  const quiet = (socket: Socket) => {
    socket.unpipe()
    socket.removeAllListeners('end')
    socket.pause()
  }
  const server = createServer({ allowHalfOpen: true }, near => {
    near.on('error', () => {})
    if (refusing) return void near.destroy()
    near.once('close', () => {
      pairs.get(near)?.destroy()
      pairs.delete(near)
    })
    const far = connect({ port: Number(target.port || 5432), host: target.hostname, allowHalfOpen: true })
    far.on('error', () => near.destroy())
    far.once('close', () => near.destroy())
    pairs.set(near, far)
    const carry = () => {
      near.pipe(delayed()).pipe(far)
      far.pipe(delayed()).pipe(near)
    }
    if (!mute) return carry()
    near.pause()
    held.push(carry)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(to)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    get size() {
      return pairs.size
    },
    silence(most = pairs.size) {
      for (const [near, far] of [...pairs].slice(0, most)) {
        // The server keeps running: its end of stream is not forwarded either.
        far.removeAllListeners('close')
        quiet(near)
        quiet(far)
      }
    },
    silenceNew(silent) {
      mute = silent
    },
    speak() {
      for (const carry of held.splice(0)) carry()
    },
    delay(ms) {
      delayMs = ms
    },
    cut() {
      for (const near of pairs.keys()) near.destroy()
    },
    refuse(refused) {
      refusing = refused
    },
    async [Symbol.asyncDispose]() {
      for (const [near, far] of pairs) {
        near.destroy()
        far.destroy()
      }
      await new Promise(resolve => server.close(resolve))
    },
  }
}
