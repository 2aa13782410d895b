import type { Socket } from 'node:net'

/** Bytes of answers after which a connection waits for the next turn of the event loop. */
export const answerTurnBytes = 128 * 1024

/**
 * Pauses a database connection for one turn of the event loop after every `turnBytes` bytes, so that other work gets
 * its turn. For a statement with long texts, the system delivers megabytes in one turn, and decoding those of a few
 * connections would block the process for a second. TCP's flow control makes the server wait.
 */
export function paceAnswers(socket: Socket, turnBytes = answerTurnBytes): void {
  let left = turnBytes
  const goOn = () => {
    left = turnBytes
    socket.resume()
  }
  socket.on('data', chunk => {
    const had = left
    left -= chunk.length
    if (left > 0 || had <= 0) return
    socket.pause()
    setImmediate(goOn)
  })
}
