import { pino } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Carrier } from '../../carriers/carrier.ts'
import { type CarriedEvents, createCarriedEvents } from '../../carriers/events.ts'
import { createNatsCarrier } from '../../carriers/nats.ts'
import { createNotifyCarrier } from '../../carriers/notify.ts'
import { createOpenPool } from '../../db/connect.ts'
import type { Resync } from '../../platform/events.ts'
import { createTestDatabase } from '../kit/database.ts'
import { until } from '../kit/launch.ts'
import { hasNats, natsServer, noNats } from '../kit/nats.ts'
import { countStatements } from '../kit/statements.ts'
import { type TcpProxy, tcpProxy } from '../kit/tcp-proxy.ts'
import { hear, ids } from './hearing.ts'

const log = pino({ level: 'silent' })

let open = new AsyncDisposableStack()
afterEach(async () => {
  const closing = open
  open = new AsyncDisposableStack()
  await closing.disposeAsync()
})

/** A carrier between processes, and how the way to it breaks. */
interface Way {
  carrier(proxied?: boolean): Carrier
  readonly proxy: TcpProxy
}

const ways: Readonly<Record<string, () => Promise<Way>>> = {
  async NOTIFY() {
    const { url } = open.use(await createTestDatabase({ empty: true, poolSize: 1 }))
    const proxy = open.use(await tcpProxy(url))
    return { proxy, carrier: proxied => createNotifyCarrier({ openPool: createOpenPool({ url: proxied ? proxy.url : url, log }), log }) }
  },
  async NATS() {
    const { url } = open.use(await natsServer())
    const proxy = open.use(await tcpProxy(url))
    return { proxy, carrier: proxied => createNatsCarrier({ url: proxied ? proxy.url : url, log }) }
  },
}

/** Makes the events of one more process; ready when its carrier is. */
async function join(carrier: Carrier | null): Promise<CarriedEvents> {
  const events = createCarriedEvents({ carrier, log })
  open.defer(() => events.stop())
  await until('the carrier is there', async () => (await events.check()) === undefined)
  return events
}

describe('a single process', () => {
  test('receives its own events, by every transport, once and at once', async () => {
    for (const carrier of [
      null,
      ...(await Promise.all(Object.entries(ways).map(async ([name, way]) => (name === 'NATS' && !hasNats ? null : (await way()).carrier())))),
    ]) {
      const events = await join(carrier)
      const stream = events.listen(['a'])
      events.announce('a', { id: '1' })
      expect(await stream.next()).toEqual({ done: false, value: { id: '1' } })
      await stream.return()
      expect(events.listenerCount()).toBe(0)
    }
  })
})

describe.for(Object.keys(ways))('events between processes by %s', name => {
  const here = name !== 'NATS' || hasNats
  const way = ways[name]!

  test.for(['both directions, in order, of the topic alone'])('go in %s', async (_, { skip }) => {
    if (!here) return skip(noNats)
    const { carrier } = await way()
    const [one, two] = [await join(carrier()), await join(carrier())]
    const [atOne, atTwo] = [hear(one, 'a', 'b'), hear(two, 'a')]
    for (const id of ['1', '2', '3']) one.announce('a', { id })
    await vi.waitFor(() => expect(ids(atTwo.heard)).toEqual(['1', '2', '3']), 10_000)
    two.announce('c', { id: 'nobody listens' })
    two.announce('b', { id: '4' })
    await vi.waitFor(() => expect(ids(atOne.heard)).toEqual(['1', '2', '3', '4']), 10_000)
    await Promise.all([atOne.end(), atTwo.end()])
    expect([one.listenerCount(), two.listenerCount()]).toEqual([0, 0])
    expect(ids(atTwo.heard)).toEqual(['1', '2', '3'])
  })

  test('sends a burst together, equal events once, in as few messages as possible', async ({ skip }) => {
    if (!here) return skip(noNats)
    const { carrier } = await way()
    const [one, two] = [await join(carrier()), await join(carrier())]
    const { heard } = hear(two, 'a')
    const { statements } = await countStatements(
      async () => {
        for (let id = 0; id < 1_000; id++) for (let again = 0; again < 3; again++) one.announce('a', { id: `${id} ${'x'.repeat(30)}` })
        await vi.waitFor(() => expect(heard).toHaveLength(1_000), 10_000)
      },
      { ignore: /^select$/ },
    )
    expect(new Set(ids(heard)).size).toBe(1_000)
    expect(statements.length).toBeLessThanOrEqual(name === 'NOTIFY' ? 2 : 0)
  })

  test('an event that is too long for the transport reaches its own process only, and nothing throws', async ({ skip }) => {
    if (!here) return skip(noNats)
    const { carrier } = await way()
    const [one, two] = [await join(carrier()), await join(carrier())]
    const [atOne, atTwo] = [hear(one, 'a'), hear(two, 'a')]
    one.announce('a', { id: 'x'.repeat(10_000) })
    one.announce('a', { id: '2' })
    await vi.waitFor(() => expect(ids(atTwo.heard)).toEqual(['2']), 10_000)
    expect(atOne.heard).toHaveLength(2)
  })

  test('while the transport is unavailable the process continues and says so; queued events are sent when it is back, and listeners resync', async ({
    skip,
  }) => {
    if (!here) return skip(noNats)
    const { carrier, proxy } = await way()
    const [one, two] = [await join(carrier(true)), await join(carrier())]
    const looks: boolean[] = []
    const look: Resync = async (_, __, away) => {
      looks.push(away)
      return looks.length === 2 ? [{ ids: { id: 'missed' }, mark: 7 }] : []
    }
    one.resync('a.', look)
    const [atOne, atTwo] = [hear(one, 'a.1'), hear(two, 'a.1')]
    proxy.refuse(true)
    proxy.cut()
    await vi.waitFor(async () => expect(await one.check()).toMatch(/carries no events/), 10_000)
    one.announce('a.1', { id: 'meanwhile' })
    two.announce('a.1', { id: 'missed' }, 7)
    expect(ids(atOne.heard)).toEqual([])
    await vi.waitFor(() => expect(ids(atOne.heard)).toEqual(['meanwhile']), 10_000)
    proxy.refuse(false)
    await vi.waitFor(() => expect(ids(atTwo.heard)).toEqual(['missed', 'meanwhile']), { timeout: 15_000 })
    await vi.waitFor(() => expect(ids(atOne.heard)).toEqual(['meanwhile', 'missed']), { timeout: 15_000 })
    expect(looks).toEqual([false, true])
    expect(await one.check()).toBe(undefined)
  })

  test('a process ends within a second although the transport is unavailable', async ({ skip }) => {
    if (!here) return skip(noNats)
    const { carrier, proxy } = await way()
    const one = await join(carrier(true))
    proxy.silence()
    proxy.silenceNew(true)
    one.announce('a', { id: '1' })
    const late = Symbol('late')
    expect(await Promise.race([one.stop(), new Promise(resolve => setTimeout(resolve, 3_000, late))])).not.toBe(late)
  })
})

// Runs in parallel, because most of the time is waiting.
test('a transport that falls silent is dropped and reconnected', async () => {
  await Promise.all(
    Object.entries(ways).map(async ([name, way]) => {
      if (name === 'NATS' && !hasNats) return
      const { carrier, proxy } = await way()
      const [one, two] = [await join(carrier(true)), await join(carrier())]
      proxy.silence()
      const { heard } = hear(one, 'a')
      await until(`it is noticed, ${name}`, async () => (await one.check()) !== undefined, 40)
      await until(`it is back, ${name}`, async () => (await one.check()) === undefined)
      two.announce('a', { id: '1' })
      await vi.waitFor(() => expect(ids(heard), name).toEqual(['1']), 10_000)
    }),
  )
})
