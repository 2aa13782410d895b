import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A client of RFC 5321 that knows nothing but lines: it sends what a test writes, and reads one reply, of one line or of several. */
export interface Dialogue {
  readonly socket: Socket
  /** Sends a line and reads its reply. */
  say(line: string): Promise<string>
  /** Reads one more reply. */
  reply(): Promise<string>
  /** Sends without waiting. */
  write(text: string | Buffer): void
  /** How the connection ended: the error's code, or `end`. */
  readonly ended: Promise<string>
}

export async function dialogue(port: number, host = '127.0.0.1'): Promise<Dialogue> {
  const socket = connect({ port, host })
  const replies: string[] = []
  const waiting: ((reply: string) => void)[] = []
  let rest = ''
  let lines: string[] = []
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    rest += text
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end)
      rest = rest.slice(end + 2)
      lines.push(line)
      // RFC 5321 §4.2.1: a hyphen behind the code says that more lines follow.
      if (line[3] === '-') continue
      const whole = lines.join('\n')
      lines = []
      const next = waiting.shift()
      next ? next(whole) : replies.push(whole)
    }
  })
  const ended = new Promise<string>(resolve => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    socket.once('close', () => resolve('end'))
  })
  await once(socket, 'connect')
  const reply = () => {
    const came = replies.shift()
    if (came !== undefined) return Promise.resolve(came)
    const { promise, resolve } = Promise.withResolvers<string>()
    waiting.push(resolve)
    return Promise.race([promise, ended.then(how => `ended: ${how}`)])
  }
  return {
    socket,
    ended,
    reply,
    write: text => void socket.write(text),
    say(line) {
      socket.write(`${line}\r\n`)
      return reply()
    },
  }
}
