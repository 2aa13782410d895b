import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { attacks, type Scene } from './clients.ts'
import { attackMs, isWanted, type Polite, peaceMs, polite, recovered, rows, tellRows } from './siege.ts'
import { startWorld, type World } from './target.ts'
import { frame, reach, upgrade, type Wire } from './wire.ts'

describe.skipIf(!isWanted)('hostile clients', () => {
  let world: World
  let scene: Scene
  let client: Polite
  const deaf: Wire[] = []
  const silent: Wire[] = []
  beforeAll(async () => {
    world = await startWorld({ LOG_LEVEL: 'error' })
    const { url, port, brandId, postIds } = world
    scene = { url, port, brandId, postId: postIds[0]!, key: await world.key('hostile') }
    const own = await world.key('polite')
    const query = `{ brand(id: "${brandId}") { name organization { name } } }`
    client = await polite({ url, key: own, query, changes: { brandId, postId: postIds[1]! }, ...(process.platform === 'linux' && { from: '127.0.0.9' }) })
    await client.during(2000)
  }, 120_000)
  afterAll(async () => {
    client?.end()
    for (const wire of [...deaf, ...silent]) wire.leave()
    await world?.[Symbol.asyncDispose]()
    tellRows()
  })

  test('half-open connections are begun, and checked again at the end', async () => {
    for (let at = 0; at < 50; at += 1) {
      const wire = await reach({ port: scene.port, from: '127.2.0.1' })
      wire.socket.write(upgrade(scene.port))
      wire.socket.write(frame('{"type":"connection_init"}'))
      deaf.push(wire)
    }
    for (let at = 0; at < 300; at += 1) silent.push(await reach({ port: scene.port, from: '127.2.0.2' }))
    await until('they are acknowledged', () => deaf.every(wire => wire.text().includes('connection_ack')))
    await until('all are taken', async () => {
      await new Promise(resolve => setTimeout(resolve, 300))
      return (await world.held()).sockets >= 350
    })
  })

  test.each(attacks)('$name', { timeout: 240_000 }, async ({ run, name, keeps = 24 }) => {
    // Requests awaited at the end are not part of the comparison.
    const look = async () => {
      const held = await world.held()
      const open = deaf.filter(({ isOpen }) => isOpen).length
      return { ...held, webSockets: held.webSockets - open, sockets: held.sockets - open - silent.filter(({ isOpen }) => isOpen).length }
    }
    const before = await look()
    const peace = await client.during(peaceMs)
    const became = await run(scene, performance.now() + attackMs)
    const during = await client.report()
    const after = await recovered(look, before, keeps)
    await until('the polite client waits for nothing any more', async () => (await client.during(200)).under <= 2, 60)
    rows.push({ name, became, peace, during, before, after })
    const slowPolling = await client.during(300)
    for (const seen of [peace, during, slowPolling]) {
      expect(seen.wrong, 'the polite client was answered otherwise').toEqual([])
      expect([seen.lost, seen.isCut], 'the polite client was told everything').toEqual([0, false])
    }
    expect([during.asked > 0, slowPolling.asked > 0], 'the polite client was answered meanwhile').toEqual([true, true])
    expect(world.program.child.exitCode).toBe(null)
  })

  test('half-open WebSockets have been cut, because they answer no ping', { timeout: 60_000 }, async () => {
    await until('they are gone', () => deaf.every(({ isOpen }) => !isOpen), 40)
    const seen = await client.during(500)
    expect(seen.wrong).toEqual([])
  })

  test('nothing of all this was an error of ours', () => {
    expect(
      world.program.complained() +
        world.program
          .said()
          .split('\n')
          .filter(line => /"level":(?:50|60)/.test(line))
          .join('\n'),
    ).toBe('')
  })
})
