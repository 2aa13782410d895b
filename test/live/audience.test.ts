import type { GraphQLError } from 'graphql'
import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../../router/engine/engine.ts'
import { createAudience, type Listener } from '../../router/live/shared/audience.ts'
import { messageOf, type StreamMessage } from '../../router/live/shared/message.ts'

const error = { message: 'It is over.', extensions: { code: 'UPSTREAM_FAILED' } }
const formatErrors = (errors: readonly GraphQLError[]) => errors.map(each => each.toJSON())

/** The payloads of one event. */
function eventOf(about: string | null, n: number): readonly [first: StreamMessage, last: StreamMessage] {
  const cut: LiveEvent['cut'] = because => ({ completed: [{ id: '0', errors: [because] }], hasNext: false })
  return [
    messageOf({ answer: { data: { n }, pending: [{ id: '0', path: [] }], hasNext: true }, about, cut }, formatErrors),
    messageOf({ answer: { completed: [{ id: '0' }], hasNext: false }, about }, formatErrors),
  ]
}
const plain = (n: number): StreamMessage => messageOf({ answer: { data: { n } }, about: null }, formatErrors)

function stage() {
  const figures = { events: 0, deliveries: 0, again: 0 }
  const audience = createAudience({
    delivered(listeners) {
      figures.events += 1
      figures.deliveries += listeners
    },
    deliveredAgain(events) {
      figures.again += events
    },
  })
  const come = () => {
    const heard: StreamMessage[] = []
    const listener: Listener = { send: told => void heard.push(told), end() {} }
    audience.add(listener)
    return { heard, listener }
  }
  return { audience, figures, come }
}

describe('the audience of a stream', () => {
  test('counts an event once, however many payloads it has', async () => {
    const { audience, figures, come } = stage()
    const clients = [come(), come()]
    const [first, last] = eventOf(null, 1)
    await audience.deliver(first)
    await audience.deliver(last)
    await audience.deliver(plain(2))
    expect(clients.map(({ heard }) => heard.length)).toEqual([3, 3])
    expect(figures).toEqual({ events: 2, deliveries: 4, again: 0 })
  })

  test('gives one who comes during an event the whole event at its end, where the stream keeps events', async () => {
    const { audience, come, figures } = stage()
    const early = come()
    const [old, oldLast] = eventOf('a', 1)
    const [first, last] = eventOf('a', 2)
    for (const told of [old, oldLast, first]) await audience.deliver(told)
    const late = come()
    expect(late.heard).toEqual([old, oldLast])
    await audience.deliver(last)
    expect(late.heard).toEqual([old, oldLast, first, last])
    expect(early.heard).toEqual([old, oldLast, first, last])
    expect(come().heard).toEqual([first, last])
    expect(figures.again).toBe(3)
  })

  test('begins with the next event for one who comes during an event, where the stream keeps none', async () => {
    const { audience, come } = stage()
    come()
    const [first, last] = eventOf(null, 1)
    await audience.deliver(first)
    const late = come()
    await audience.deliver(last)
    expect(late.heard).toEqual([])
    const next = eventOf(null, 2)
    for (const told of next) await audience.deliver(told)
    expect(late.heard).toEqual(next)
  })

  test('gives no payload to one who left, nor to one whose event was cut', async () => {
    const { audience, come } = stage()
    const [gone, cut, stays] = [come(), come(), come()]
    const [first, last] = eventOf('a', 1)
    await audience.deliver(first)
    audience.leave(gone.listener)
    audience.cut(error, cut.listener)
    await audience.deliver(last)
    expect([gone.heard, stays.heard]).toEqual([[first], [first, last]])
    expect(cut.heard.map(({ json }) => JSON.parse(json))[1]).toEqual({ completed: [{ id: '0', errors: [error] }], hasNext: false })
    expect(cut.heard).toHaveLength(2)
  })

  test('cuts no event of one who has received all of it, while others still wait for their turn', async () => {
    const { audience, come } = stage()
    const clients = Array.from({ length: 251 }, come)
    const [first, last] = eventOf(null, 1)
    await audience.deliver(first)
    const delivering = audience.deliver(last)
    const [done, waiting] = [clients[0]!, clients[250]!]
    expect([done.heard.length, waiting.heard.length]).toEqual([2, 1])
    for (const { listener } of [done, waiting]) audience.cut(error, listener)
    await delivering
    expect([done.heard, waiting.heard[0], waiting.heard.length]).toEqual([[first, last], first, 2])
    expect(JSON.parse(waiting.heard[1]!.json).completed[0].errors).toEqual([error])
  })

  test('cuts the event of all with one text for those who have received the same', async () => {
    const { audience, come } = stage()
    const clients = [come(), come()]
    const [first] = eventOf(null, 1)
    await audience.deliver(first)
    audience.cutAll(error)
    audience.cutAll(error)
    expect(clients.map(({ heard }) => heard.length)).toEqual([2, 2])
    expect(clients[0]!.heard[1]).toBe(clients[1]!.heard[1])
  })
})
