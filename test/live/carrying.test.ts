import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { type Carrier, createCarrier, type Hears, type Line, mostBytes, pauseBefore } from '../../carriers/carrier.ts'
import { createCarriedEvents } from '../../carriers/events.ts'
import type { EventIds } from '../../platform/events.ts'
import { until } from '../kit/launch.ts'

const silent = pino({ level: 'silent' })

/** A carrier of the test's own: it keeps what it is given, and is away when the test says so. */
function carrierOf() {
  const done: string[] = []
  const sent: string[] = []
  const way = { away: false, hangs: false, hears: null as Hears | null }
  const carrier: Carrier = {
    start(hears) {
      way.hears = hears
    },
    async send(texts) {
      done.push('send')
      if (way.hangs) await new Promise(() => {})
      if (way.away) throw new Error('it is away')
      sent.push(...texts)
    },
    trouble: () => (way.away ? 'it is away' : null),
    stop: async () => void done.push('stop'),
  }
  /** What was sent, event by event: `[topic, ids, mark]`. */
  const events = () => sent.flatMap(text => JSON.parse(text)[1] as [string, EventIds, unknown?][])
  return { carrier, way, done, sent, events }
}

describe('events that a process publishes', () => {
  test('are sent once when equal, at the position and with the mark of the last one', async () => {
    const { carrier, events } = carrierOf()
    const process = createCarriedEvents({ carrier, log: silent })
    process.announce('a', { id: '1' }, 1)
    process.announce('a', { id: '2' }, 1)
    process.announce('a', { id: '1' }, 2)
    process.announce('b', { id: '1' })
    await until('it is sent', () => events().length > 0)
    expect(events()).toEqual([
      ['a', { id: '2' }, 1],
      ['a', { id: '1' }, 2],
      ['b', { id: '1' }],
    ])
    await process.stop()
  })

  test('are sent in as few messages as the transport’s maximum length allows', async () => {
    const { carrier, events, sent } = carrierOf()
    const process = createCarriedEvents({ carrier, log: silent })
    const long = ['é'.repeat(1_900), 'x'.repeat(3_900), 'x'.repeat(7_700), 'x'.repeat(10)]
    for (const id of long) process.announce('a', { id })
    await until('it is sent', () => events().length === 4)
    expect(sent.map(text => Buffer.byteLength(text) <= mostBytes)).toEqual([true, true])
    expect(events().map(([, { id }]) => id)).toEqual(long)
    await process.stop()
  })

  test('wait while the transport is unavailable, the latest ten thousand at most; repeated ones keep their last state', async () => {
    const { carrier, way, events, done } = carrierOf()
    const process = createCarriedEvents({ carrier, log: silent })
    way.away = true
    process.announce('a', { id: 'before' }, 1)
    await until('it was tried', () => done.length === 1)
    process.announce('a', { id: 'before' }, 2)
    for (let id = 0; id < 10_000; id += 1) process.announce('a', { id: `${id}` })
    expect(await process.check()).toBe('it is away')
    way.away = false
    way.hears!.connected(true)
    await until('it is sent', () => events().length >= 10_000)
    expect([events().length, events().filter(([, { id }]) => id === 'before')]).toEqual([10_000, []])
    process.announce('a', { id: 'after' })
    await until('it goes on', () => events().length === 10_001)
    await process.stop()
  })

  test('are sent again automatically after a failure', async () => {
    const { carrier, way, events, done } = carrierOf()
    const process = createCarriedEvents({ carrier, log: silent })
    way.away = true
    process.announce('a', { id: '1' }, 1)
    await until('it was tried', () => done.length === 1)
    process.announce('a', { id: '1' }, 2)
    way.away = false
    await until('it is sent', () => events().length > 0)
    expect(events()).toEqual([['a', { id: '1' }, 2]])
    await process.stop()
  })

  test('are sent before the transport stops; stopping twice ends it once', async () => {
    const { carrier, way, events, done } = carrierOf()
    const process = createCarriedEvents({ carrier, log: silent })
    process.announce('a', { id: '1' })
    await Promise.all([process.stop(), process.stop()])
    expect([events(), done]).toEqual([[['a', { id: '1' }]], ['send', 'stop']])
    process.announce('a', { id: 'too late' })
    expect(events()).toHaveLength(1)

    const other = carrierOf()
    const second = createCarriedEvents({ carrier: other.carrier, log: silent })
    other.way.away = true
    second.announce('a', { id: '2' })
    await until('it was tried', () => other.done.length === 1)
    other.way.away = false
    await second.stop()
    expect([other.events(), other.done]).toEqual([[['a', { id: '2' }]], ['send', 'send', 'stop']])
    expect(way.away).toBe(false)
  })

  test('do not delay the end of a process whose transport accepts nothing', async () => {
    const { carrier, way, done } = carrierOf()
    const process = createCarriedEvents({ carrier, log: silent })
    way.hangs = true
    process.announce('a', { id: '1' })
    await process.stop()
    expect(done).toEqual(['send', 'stop'])
  })
})

describe('events that a process receives', () => {
  const heardBy = async (texts: (own: string) => readonly string[]) => {
    const { carrier, way, sent } = carrierOf()
    const warned: unknown[] = []
    const log = pino({ level: 'warn' }, { write: line => void warned.push(line) })
    const process = createCarriedEvents({ carrier, log })
    process.announce('other', { id: 'of this process' })
    await until('it is sent', () => sent.length === 1)
    const stream = process.listen(['a', 'other'])
    for (const text of texts(sent[0]!)) way.hears!.heard(text)
    process.announce('a', { id: 'end' })
    const heard: unknown[] = []
    for await (const { id } of stream) {
      if (id === 'end') break
      heard.push(id)
    }
    await process.stop()
    return { heard, warned: warned.length }
  }

  test('are delivered, except its own, which were delivered before', async () => {
    expect(await heardBy(own => ['["another",[["a",{"id":"1"}],["a",{"id":"2"},7]]]', own])).toEqual({ heard: ['1', '2'], warned: 0 })
  })

  test.each([
    'nonsense',
    '{}',
    '[]',
    'null',
    '["another"]',
    '["another",{}]',
    '["another",[1]]',
    '["another",[["a"]]]',
    '["another",[[1,{}]]]',
    '[1,[["a",{"id":"1"}]]]',
  ])('in a form that it does not know is left, with a word in the log: %s', async text => {
    expect(await heardBy(() => [text])).toEqual({ heard: [], warned: 1 })
  })
})

describe('a transport over one connection', () => {
  /** Connections that the test opens, ends and counts. */
  function lines({ refuses = false } = {}) {
    const opened: { readonly sent: string[]; closed: boolean; end(): void }[] = []
    const way = { refuses, tries: 0 }
    const open = async (): Promise<Line> => {
      way.tries += 1
      if (way.refuses) throw new Error('nobody is there')
      const ended = Promise.withResolvers<void>()
      const line = { sent: [] as string[], closed: false, end: () => ended.resolve() }
      opened.push(line)
      return {
        ended: ended.promise,
        send: async texts => void line.sent.push(...texts),
        async close() {
          line.closed = true
        },
      }
    }
    const told: boolean[] = []
    const warned: unknown[] = []
    const log = { warn: (...words: unknown[]) => void warned.push(words), info() {} }
    const carrier = createCarrier({ name: 'a way', open, log })
    carrier.start({ heard() {}, connected: again => void told.push(again) })
    return { carrier, opened, way, told, warned }
  }

  test('reports a fault until it is connected, sends over that connection, and over none after it has ended', async () => {
    const { carrier, opened, way, told, warned } = lines()
    expect(carrier.trouble()).toMatch(/does not carry events yet/)
    await expect(carrier.send(['x'])).rejects.toThrow('not connected')
    await until('it is there', () => carrier.trouble() === null)
    await carrier.send(['1'])
    way.refuses = true
    opened[0]!.end()
    await until('it is tried in vain', () => way.tries === 2)
    await expect(carrier.send(['2'])).rejects.toThrow('not connected')
    way.refuses = false
    await until('it is back', () => carrier.trouble() === null)
    await carrier.send(['3'])
    expect([opened.map(({ sent, closed }) => [sent, closed]), told]).toEqual([
      [
        [['1'], true],
        [['3'], false],
      ],
      [false, true],
    ])
    // Reports the loss and the recovery; a stop is not reported.
    expect(warned).toHaveLength(2)
    await carrier.stop()
    expect([opened.map(({ closed }) => closed), warned.length]).toEqual([[true, true], 2])
  })

  test('reconnects after growing pauses of up to five seconds, at different times for each process', () => {
    const pauses = (attempt: number) => Array.from({ length: 200 }, () => pauseBefore(attempt))
    for (const [attempt, middle] of [50, 500, 1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
      for (const pause of pauses(attempt)) expect(pause >= middle / 2 && pause <= middle * 1.5, `${pause} before attempt ${attempt}`).toBe(true)
      expect(new Set(pauses(attempt)).size).toBeGreaterThan(100)
    }
  })

  test('reconnects at once however often the connection ends, as long as it can be opened', async () => {
    const { carrier, opened } = lines()
    for (let times = 1; times <= 8; times += 1) {
      await until(`it is there for the ${times}. time`, () => opened.length === times && carrier.trouble() === null, 5)
      opened.at(-1)!.end()
    }
    await carrier.stop()
  })

  test('that cannot connect is reported once however often it retries, and listeners resync afterwards', async () => {
    const { carrier, way, told, warned } = lines({ refuses: true })
    await until('it is tried again and again', () => way.tries === 3)
    expect([warned.length, carrier.trouble()]).toEqual([1, expect.stringMatching('carries no events')])
    way.refuses = false
    await until('it is there', () => carrier.trouble() === null)
    expect(told).toEqual([true])
    await carrier.stop()
    await carrier.stop()
  })

  test('that connects after the stop is closed, and nothing is reported', async () => {
    const opening = Promise.withResolvers<Line>()
    let closed = false
    const told: boolean[] = []
    const carrier = createCarrier({ name: 'a way', open: () => opening.promise, log: silent })
    carrier.start({ heard() {}, connected: again => void told.push(again) })
    const stopped = carrier.stop()
    const close = async () => {
      closed = true
    }
    opening.resolve({ ended: new Promise(() => {}), send: async () => {}, close })
    await stopped
    expect([closed, told]).toEqual([true, []])
  })
})
