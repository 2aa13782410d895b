import { GraphQLError } from 'graphql'
import { expect, test } from 'vitest'
import { DomainError } from '../../platform/errors.ts'
import { unheardMs } from '../../platform/events.ts'
import type { LiveEvent, LiveStream } from '../../router/engine/engine.ts'
import { type ChannelNeeds, createChannel, type Membership, type Opener } from '../../router/live/shared/channel.ts'

const event = (n: number): LiveEvent => ({ answer: { data: { n } }, about: null })
const refusal = (code: 'FORBIDDEN' | 'UPSTREAM_FAILED') => {
  const { message, extensions } = new DomainError(code, 'Not now.')
  return { errors: [new GraphQLError(message, { extensions })] }
}

/** A source of events that is played by hand. */
function playedSource() {
  let next = Promise.withResolvers<IteratorResult<LiveEvent>>()
  let [lost, over] = [false, false]
  const source = {
    returned: 0,
    tell(value: LiveEvent) {
      const settled = next
      next = Promise.withResolvers()
      settled.resolve({ value, done: false })
    },
    /** Breaks, with an error for its last word. */
    lose(last: LiveEvent = { answer: { data: null, errors: [new GraphQLError('It broke.')] }, about: null }) {
      lost = true
      source.tell(last)
    },
    /** Ends for good. */
    finish() {
      over = true
      next.resolve({ value: undefined, done: true })
    },
    stream: {
      next: () => next.promise,
      async return() {
        source.returned += 1
        next.resolve({ value: undefined, done: true })
        return { value: undefined, done: true }
      },
      isLost: () => lost,
      isOver: () => over,
    } satisfies LiveStream,
  }
  return source
}
type Played = ReturnType<typeof playedSource>

/** A channel over sources that are played: each start that is not refused is one more. */
function stage(patience: Partial<ChannelNeeds['patience']> = {}) {
  const sources: Played[] = []
  const failures: unknown[] = []
  const channel = createChannel({
    delivered() {},
    deliveredAgain() {},
    closed() {},
    failed: cause => void failures.push(cause),
    patience: { lostMs: 600_000, firstMs: 1, longestMs: 60_000, ...patience },
  })
  const played = () => {
    const source = playedSource()
    sources.push(source)
    return source.stream
  }
  const opener = (start: Opener['start'] = async () => played()): Opener => ({ start, formatErrors: errors => errors.map(error => error.toJSON()) })
  const join = async (start?: Opener['start']) => {
    const membership = (await channel.join(opener(start))) as Membership
    const [heard, ended]: [unknown[], unknown[]] = [[], []]
    const listen = () => membership.listen({ send: ({ json }) => heard.push(JSON.parse(json)), end: errors => ended.push(errors) })
    return { membership, heard, ended, listen }
  }
  const present = async (start?: Opener['start']) => {
    const one = await join(start)
    one.listen()
    return one
  }
  return { channel, sources, failures, played, join, present }
}
const data = (...all: number[]) => all.map(n => ({ data: { n } }))

test('delivers no event to a listener that leaves during its delivery to others', async () => {
  const { channel, sources, join } = stage()
  const [first, second] = [await join(), await join()]
  first.membership.listen({ send: () => second.membership.leave(), end() {} })
  second.listen()
  const third = await join()
  third.listen()
  sources[0]!.tell(event(1))
  await expect.poll(() => third.heard).toEqual(data(1))
  expect(second.heard).toEqual([])
  channel.end([])
})

/** The first payload of an event with a part that comes later, and the payload that follows. */
const [begun, completed]: readonly LiveEvent[] = [
  {
    answer: { data: { n: 1 }, pending: [{ id: '0', path: [] }], hasNext: true },
    about: null,
    cut: error => ({ completed: [{ id: '0', errors: [error] }], hasNext: false }),
  },
  { answer: { incremental: [{ id: '0', data: { m: 1 } }], completed: [{ id: '0' }], hasNext: false }, about: null },
]

test('delivers the whole of an event whose source is lost meanwhile', async () => {
  const { channel, sources, present } = stage()
  const one = await present()
  sources[0]!.tell(begun!)
  await expect.poll(() => one.heard.length).toBe(1)
  sources[0]!.lose(completed!)
  await expect.poll(() => one.heard).toEqual([begun!.answer, completed!.answer])
  channel.end([])
})

test('fails the open parts of an event that breaks off, and restarts the source', async () => {
  const { channel, sources, present } = stage()
  const one = await present()
  sources[0]!.tell(begun!)
  await expect.poll(() => one.heard.length).toBe(1)
  sources[0]!.lose()
  await expect.poll(() => sources.length).toBe(2)
  const errors = [expect.objectContaining({ extensions: { code: 'UPSTREAM_FAILED' } })]
  expect(one.heard).toEqual([begun!.answer, { completed: [{ id: '0', errors }], hasNext: false }])
  sources[1]!.tell(event(2))
  await expect.poll(() => one.heard.at(-1)).toEqual({ data: { n: 2 } })
  expect(one.ended).toEqual([])
  channel.end([])
})

test('restarts a lost source without notifying subscribers', async () => {
  const { channel, sources, present } = stage()
  const one = await present()
  sources[0]!.lose()
  await expect.poll(() => sources.length).toBe(2)
  expect(sources[0]!.returned).toBe(1)
  sources[1]!.tell(event(2))
  await expect.poll(() => one.heard).toEqual(data(2))
  expect(one.ended).toEqual([])
  channel.end([])
})

test('a source that ends for good completes all subscribers, and is not started again', async () => {
  const { sources, present } = stage()
  const [one, other] = [await present(), await present()]
  sources[0]!.tell(event(1))
  await expect.poll(() => other.heard).toEqual(data(1))
  sources[0]!.finish()
  await expect.poll(() => [one.ended, other.ended]).toEqual([[[]], [[]]])
  expect([sources.length, sources[0]!.returned]).toEqual([1, 1])
})

test.each([
  ['whoever began it', 0],
  ['somebody else', 1],
])('what refuses %s when the source is started again keeps it from nobody: another of those present starts it', async (_who, refused) => {
  const { channel, sources, played, present } = stage()
  let lost = false
  const asked = [0, 0]
  const start = (who: number) => async () => {
    asked[who]! += 1
    return lost && who === refused ? refusal('FORBIDDEN') : played()
  }
  const all = [await present(start(0)), await present(start(1))]
  lost = true
  sources[0]!.lose()
  await expect.poll(() => sources.length).toBe(2)
  sources[1]!.tell(event(1))
  await expect.poll(() => all.map(({ heard }) => heard)).toEqual([data(1), data(1)])
  expect(all.flatMap(({ ended }) => ended)).toEqual([])
  channel.end([])
})

test('a temporary rejection ends nothing within the time for restarts', async () => {
  const { channel, sources, played, present } = stage({ longestMs: 2 })
  let attempts = 0
  const one = await present(async () => {
    attempts += 1
    if (attempts === 1 || attempts > 8) return played()
    if (attempts % 2) throw new Error('It cannot be reached.')
    return refusal('UPSTREAM_FAILED')
  })
  sources[0]!.lose()
  await expect.poll(() => sources.length).toBe(2)
  sources[1]!.tell(event(1))
  await expect.poll(() => one.heard).toEqual(data(1))
  expect([attempts, one.ended]).toEqual([9, []])
  channel.end([])
})

test('a source that returned has the whole time and all attempts again when it is lost once more', async () => {
  const lostMs = 50
  const { channel, sources, played, present } = stage({ lostMs })
  let refusing = 0
  const one = await present(async () => {
    if (refusing === 0) return played()
    refusing -= 1
    return refusal('FORBIDDEN')
  })
  for (const time of [1, 2, 3, 4]) {
    // Once each time: if former attempts had counted, this would be the last.
    if (time === 4) refusing = 1
    sources.at(-1)!.lose()
    await expect.poll(() => sources.length).toBe(time + 1)
    sources.at(-1)!.tell(event(time))
    await expect.poll(() => one.heard.length).toBe(time)
    // As long as the grace period of a lost source: its former loss is that long ago.
    await new Promise(resolve => setTimeout(resolve, lostMs + 10))
  }
  expect(one.ended).toEqual([])
  channel.end([])
})

test('releases a source that starts after the last subscriber left, at the beginning and after a restart', async () => {
  const { sources, played, channel } = stage()
  const [first, again] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const leaving = new AbortController()
  const starts = [first, again]
  let begun = 0
  const opener = (on: typeof channel): Promise<unknown> =>
    on.join({ start: () => starts[begun++]!.promise.then(played), leaving: leaving.signal, formatErrors: () => [] })
  const joining = opener(channel)
  leaving.abort()
  first.resolve()
  await joining
  await expect.poll(() => sources[0]?.returned).toBe(1)

  const other = stage()
  let isLost = false
  const one = await other.present(async () => {
    if (!isLost) return other.played()
    begun += 1
    return again.promise.then(other.played)
  })
  isLost = true
  other.sources[0]!.lose()
  await expect.poll(() => begun).toBe(2)
  one.membership.leave()
  again.resolve()
  await expect.poll(() => other.sources[1]?.returned).toBe(1)
  expect(one.heard).toEqual([])
})

test('a restarted stream says how long nothing was received, a new one says nothing', async () => {
  const { sources, played, present } = stage()
  const unheard: (number | undefined)[] = []
  const { membership } = await present(async () => {
    unheard.push(unheardMs())
    return played()
  })
  sources[0]!.lose()
  await expect.poll(() => unheard.length).toBe(2)
  expect(unheard).toEqual([undefined, expect.any(Number)])
  membership.leave()
})

test('does not start a stream for a subscriber that left already', async () => {
  const { channel, played, sources } = stage()
  const begun: boolean[] = []
  const start: Opener['start'] = async signal => {
    begun.push(signal.aborted)
    return played()
  }
  await channel.join({ start, leaving: AbortSignal.abort(), formatErrors: () => [] })
  expect(begun).toEqual([true])
  await expect.poll(() => sources[0]!.returned).toBe(1)
})

test('a listener of a stream that has ended already is notified of the end', async () => {
  const { channel, join } = stage()
  const one = await join()
  channel.end([{ message: 'Over.' }])
  one.listen()
  expect(one.ended).toMatchObject([[{ extensions: { code: 'UPSTREAM_FAILED' } }]])
})
