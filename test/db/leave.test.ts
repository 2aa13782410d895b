import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { connect } from '../../db/connect.ts'

/** A message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

test('a server that disconnects just when a connection is established fails its user, and not the process', async () => {
  const welcome = [message('R', Buffer.alloc(4)), message('S', Buffer.from('standard_conforming_strings\0on\0')), message('Z', Buffer.from('I'))]
  const leave = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))
  const server = createServer(socket => {
    socket.on('error', () => {})
    // Sent in one piece, so that the client reads the end before a listener could be added.
    socket.once('data', () => socket.end(Buffer.concat([...welcome, leave])))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const heard: unknown[] = []
  const hear = (error: unknown) => heard.push(error)
  process.on('uncaughtException', hear)
  try {
    const { sequelize, close } = connect({ url: `postgres://nobody@127.0.0.1:${port}/nothing`, poolSize: 1, log: pino({ level: 'silent' }) })
    await expect(sequelize.query('select 1')).rejects.toThrow()
    await close()
  } finally {
    process.off('uncaughtException', hear)
    server.close()
  }
  expect(heard).toEqual([])
})
