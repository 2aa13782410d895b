import type { Socket } from 'node:net'

/** Bytes of answers that one connection takes up in one turn of the event loop. */
export const answerTurnBytes = 128 * 1024

/**
 * Lets everything else have a turn of the event loop after each so many bytes that come over a connection to a database. The system hands
 * over megabytes in one turn when a statement finds long texts, and they are decoded as they come: with some such connections the answers
 * for everybody else would wait for a second. Meanwhile the server waits, as TCP makes it.
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
