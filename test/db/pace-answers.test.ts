import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { answerTurnBytes, paceAnswers } from '../../db/connection/pace-answers.ts'
import { until } from '../kit/launch.ts'

const sent = Buffer.alloc(16 * 1024 * 1024, 'answer ')
/** What comes in one read of a socket, and what a socket that is paused takes up before it stops. */
const [chunk, buffered] = [64 * 1024, 64 * 1024]

/** A socket that reads nothing yet, and for which the system holds megabytes already. */
async function filled() {
  const { promise: came, resolve: come } = Promise.withResolvers<Socket>()
  const server = createServer(come).listen(0, '127.0.0.1')
  await until('it listens', () => server.listening)
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  const far = await came
  far.on('error', () => {})
  far.write(sent)
  await until('the system holds what it can', async () => {
    const before = far.writableLength
    await new Promise(resolve => setTimeout(resolve, 20))
    return near.readyState === 'open' && far.writableLength === before
  })
  return {
    near,
    far,
    [Symbol.dispose]() {
      near.destroy()
      far.destroy()
      server.close()
    },
  }
}

/** The most bytes that came in one turn of the event loop, and all of them. */
async function readAll(near: Socket) {
  const came: Buffer[] = []
  let [total, inTurn, most, isOver] = [0, 0, 0, false]
  near.on('data', (bytes: Buffer) => {
    came.push(bytes)
    total += bytes.length
    inTurn += bytes.length
    most = Math.max(most, inTurn)
  })
  near.resume()
  const turn = () => {
    inTurn = 0
    if (!isOver) setImmediate(turn)
  }
  turn()
  await until('everything came', () => total === sent.length)
  isOver = true
  return { most, whole: Buffer.concat(came) }
}

describe('paceAnswers', () => {
  it('reads a bounded number of bytes in one turn of the event loop when megabytes are available', async () => {
    using sockets = await filled()
    paceAnswers(sockets.near)
    const { most, whole } = await readAll(sockets.near)
    expect(most).toBeLessThanOrEqual(answerTurnBytes + chunk + buffered)
    expect(whole.equals(sent)).toBe(true)
  })

  it('continues when the other side closes the connection during a pause', async () => {
    using sockets = await filled()
    paceAnswers(sockets.near)
    sockets.far.end()
    const ended = new Promise(resolve => sockets.near.once('close', resolve))
    await readAll(sockets.near)
    await ended
  })
})
