import { parse } from 'graphql'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IncrementalForm, InTurn, LiveSubscription } from '../../../router/engine/engine.ts'
import { createEngine } from '../../../router/engine/native/native.ts'
import type { Membership } from '../../../router/live/shared/channel.ts'
import { createHub } from '../../../router/live/shared/hub.ts'
import { createShares, eventShare, inTurnOf } from '../../../router/live/shares.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { mergePayloads, type SentPayload } from '../../kit/payloads.ts'
import type { GraphOptions } from '../supergraph-fixture.ts'
import { accessByScopes, fetchesIn, itemsGraph, itemsSupergraph } from './graph.ts'
import { type Asking, follow, nextEvent } from './payloads-of.ts'

const changed = 'subscription { changed { name ... @defer(label: "later") { slow } } }'
const forms = ['v0.2', '20220824'] as const

/** A stream of changed items. */
async function open(source: string, form: IncrementalForm | undefined, { options, asking }: { options?: GraphOptions; asking?: Asking } = {}) {
  const items = itemsGraph(options)
  const stream = await follow(items.graph, source, form, asking)
  onTestFinished(() => void stream.return())
  /** Reads all payloads of the event that an item has changed. */
  const eventOf = async (id: string): Promise<SentPayload[]> => {
    const event = nextEvent(stream)
    items.events.announce('item', { id })
    return event
  }
  return { ...items, stream, eventOf }
}

const slowFetches = ({ graph }: Pick<ReturnType<typeof itemsGraph>, 'graph'>) => fetchesIn(graph.sent).filter(each => each.startsWith('b'))

describe('an event with deferred fragments', () => {
  test('is a first payload and its later ones, and each event has ids of its own (v0.2)', async () => {
    const { eventOf } = await open(changed, 'v0.2')
    for (const id of ['1', '2']) {
      expect(await eventOf(id)).toEqual([
        { data: { changed: { name: `name ${id}` } }, pending: [{ id: '0', path: ['changed'], label: 'later' }], hasNext: true },
        { incremental: [{ id: '0', data: { slow: `slow ${id}` } }], completed: [{ id: '0' }], hasNext: false },
      ])
    }
  })

  test('names its parts by path and label (2022)', async () => {
    const { eventOf } = await open(changed, '20220824')
    expect(await eventOf('1')).toEqual([
      { data: { changed: { name: 'name 1' } }, hasNext: true },
      { incremental: [{ path: ['changed'], label: 'later', data: { slow: 'slow 1' } }], hasNext: false },
    ])
  })

  test('sends its first payload while what only its parts need is fetched', async () => {
    const { stream, events, hold, ...items } = await open(changed, 'v0.2')
    const release = hold()
    const first = stream.next()
    events.announce('item', { id: '1' })
    expect((await first).value?.answer).toMatchObject({ data: { changed: { name: 'name 1' } }, hasNext: true })
    const second = stream.next()
    release()
    expect((await second).value?.answer).toMatchObject({ hasNext: false })
    expect(slowFetches(items)).toEqual(['b: Item{slow}'])
  })

  test('has its deferred part in the second payload where one subgraph brings everything', async () => {
    const { eventOf } = await open('subscription { changed { id ... @defer { name } } }', 'v0.2')
    expect((await eventOf('1')).map(({ hasNext }) => hasNext)).toEqual([true, false])
  })

  test('is one payload, the last one, where its root is null', async () => {
    const { eventOf } = await open(changed, 'v0.2')
    expect(await eventOf('none')).toEqual([{ data: { changed: null }, hasNext: false }])
  })

  test.each([
    ['no caller takes parts', changed, undefined],
    ['the condition is false', 'subscription { changed { name ... @defer(if: false) { slow } } }', 'v0.2'],
  ] as const)('comes in one piece, without hasNext, where %s', async (_what, source, form) => {
    const { eventOf } = await open(source, form)
    expect(await eventOf('1')).toEqual([{ data: { changed: { name: 'name 1', slow: 'slow 1' } } }])
  })

  test.each(forms)('streams lists below its root (%s)', async form => {
    const { eventOf } = await open('subscription { changed { peers @stream(initialCount: 1) { id slow } } }', form)
    const payloads = await eventOf('1')
    expect(payloads[0]!.data).toEqual({ changed: { peers: [{ id: '1', slow: 'slow 1' }] } })
    expect(mergePayloads(payloads).data).toEqual({ changed: { peers: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) } })
  })

  test.each(forms)('has an error in the part whose field failed, and fails a part that became null (%s)', async form => {
    const { eventOf } = await open('subscription { changed { name ... @defer(label: "f") { fails } ... @defer(label: "n") { needed } } }', form)
    for (const id of ['1', '2']) {
      const payloads = await eventOf(id)
      expect([payloads[0]!.data, payloads[0]!.errors]).toEqual([{ changed: { name: `name ${id}` } }, undefined])
      const { data, errors, failed } = mergePayloads(payloads)
      expect([data, failed]).toEqual([{ changed: { name: `name ${id}`, fails: null } }, [['changed']]])
      expect(errors.map(({ path }) => path).toSorted()).toEqual([
        ['changed', 'fails'],
        ['changed', 'needed'],
      ])
    }
  })

  test('is never made where access refuses a deferred field: a subscription is refused whole', async () => {
    const source = 'subscription { changed { name ... @defer { secret } } }'
    await expect(open(source, 'v0.2', { options: { access: accessByScopes() } })).rejects.toThrow('UNAUTHORIZED_FIELD_OR_TYPE')
  })

  test('is refused at the start where a variable asks for a negative number of elements', async () => {
    const source = 'subscription($n: Int) { changed { peers @stream(initialCount: $n) { id } } }'
    await expect(open(source, 'v0.2', { asking: { variables: { n: -1 } } })).rejects.toThrow('BAD_USER_INPUT')
  })

  test('stands in the plan, and costs 1 for each part, in its last payload', async () => {
    const headers = { 'x-graphql-plan': 'show', 'x-graphql-cost': 'show' }
    const { eventOf } = await open(changed, 'v0.2', { options: { exposePlans: true, maxCost: 1000 }, asking: { headers } })
    const whole = await open('subscription { changed { name slow } }', 'v0.2', { options: { maxCost: 1000 }, asking: { headers } })
    const [first, last] = await eventOf('1')
    expect(first!.extensions).toBeUndefined()
    expect(String(last!.extensions?.queryPlan)).toContain('Defer("later", changed)')
    const [{ extensions }] = (await whole.eventOf('1')) as [SentPayload]
    const { actual, estimated } = extensions!.cost as { actual: number; estimated: number }
    expect(last!.extensions?.cost).toMatchObject({ actual: actual + 1, estimated: estimated + 1 })
  })
})

describe('the limits of incremental answers hold for each event', () => {
  test('and each event may have as many parts', async () => {
    const { eventOf } = await open('subscription { changed { peers { id ... @defer { slow } } } }', 'v0.2', { options: { incrementalParts: 3 } })
    for (const id of ['1', '2']) expect((await eventOf(id))[0]!.pending).toHaveLength(3)
  })

  test('and parts that are too many come with the event', async () => {
    const { eventOf } = await open('subscription { changed { peers { id ... @defer { slow } } } }', 'v0.2', { options: { incrementalParts: 2 } })
    expect(await eventOf('1')).toEqual([{ data: { changed: { peers: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) } }, hasNext: false }])
  })

  test('and parts past the bytes of an event fail', async () => {
    const { eventOf } = await open('subscription { changed { peers { id ... @defer { slow } } } }', 'v0.2', { options: { answerBytes: 100 } })
    for (const id of ['1', '2']) {
      const merged = mergePayloads(await eventOf(id))
      expect([merged.failed.length > 0, merged.failed.length < 3]).toEqual([true, true])
      expect(new Set(merged.errors.map(({ extensions }) => extensions?.code))).toEqual(new Set(['OPERATION_TOO_EXPENSIVE']))
    }
  })
})

describe('a stream of events with deferred fragments', () => {
  test('holds its next event until the event before is complete, and no other stream', async () => {
    const { stream, events, hold, eventOf, graph } = await open(changed, 'v0.2')
    const other = await follow(graph, 'subscription { changed { name ... @defer { owner { id } } } }', 'v0.2')
    onTestFinished(() => void other.return())
    const release = hold()
    const one = nextEvent(stream)
    const ofOther = nextEvent(other)
    events.announce('item', { id: '1' })
    expect(mergePayloads(await ofOther).data).toEqual({ changed: { name: 'name 1', owner: { id: 'o1' } } })
    const next = nextEvent(other)
    events.announce('item', { id: '2' })
    expect(mergePayloads(await next).data).toEqual({ changed: { name: 'name 2', owner: { id: 'o2' } } })
    expect(slowFetches({ graph })).toHaveLength(1)
    release()
    expect(mergePayloads(await one).data).toEqual({ changed: { name: 'name 1', slow: 'slow 1' } })
    expect(mergePayloads(await nextEvent(stream)).data).toEqual({ changed: { name: 'name 2', slow: 'slow 2' } })
    expect(mergePayloads(await eventOf('3')).data).toEqual({ changed: { name: 'name 3', slow: 'slow 3' } })
  })

  test('keeps a slot of its caller until the event has ended, and no longer', async () => {
    const shares = createShares({ ...eventShare, each: 1 })
    const claim = { caller: 'one', organization: 'one' }
    const { stream, events, hold } = await open(changed, 'v0.2', { asking: { inTurn: inTurnOf(shares, claim, null) } })
    const release = hold()
    const first = stream.next()
    events.announce('item', { id: '1' })
    await first
    expect(shares.hasRoom(claim)).toBe(false)
    const second = stream.next()
    release()
    await second
    await expect.poll(() => shares.hasRoom(claim)).toBe(true)
  })

  test('ends what is under way when it ends, and gives its slot back', async () => {
    const shares = createShares({ ...eventShare, each: 1 })
    const claim = { caller: 'one', organization: 'one' }
    const leaving = new AbortController()
    const asking = { inTurn: inTurnOf(shares, claim, null), signal: leaving.signal }
    const { stream, events, gate, hold } = await open(changed, 'v0.2', { asking })
    hold()
    const first = stream.next()
    events.announce('item', { id: '1' })
    await first
    const second = stream.next()
    await expect.poll(() => shares.hasRoom(claim)).toBe(false)
    leaving.abort()
    expect(await second).toEqual({ value: undefined, done: true })
    await expect.poll(() => gate.aborted, { timeout: 500 }).toBe(1)
    await expect.poll(() => [shares.hasRoom(claim), events.listenerCount()]).toEqual([true, 0])
  })

  test.each(['a', 'b'])('is another one on a graph where subgraph %s, which its events or their parts need, has another address', async name => {
    const { graph } = itemsGraph()
    const basisOn = async (supergraphSdl: string) => {
      const engine = createEngine({ supergraphSdl, transport: graph.transport, log: { error() {}, warn() {} } })
      const prepared = await engine.prepareStream({ document: parse(changed), viewer: anonymous, requestId: 'r', incremental: 'v0.2' })
      return (prepared as LiveSubscription).basis!()
    }
    const sdl = itemsSupergraph()
    expect(await basisOn(sdl)).toBe(await basisOn(itemsSupergraph()))
    expect(await basisOn(sdl.replace(`http://${name}.invalid`, 'http://moved.invalid'))).not.toBe(await basisOn(sdl))
  })

  test('gives its slot back when it ends between two payloads that nobody asked for', async () => {
    const shares = createShares({ ...eventShare, each: 1 })
    const claim = { caller: 'one', organization: 'one' }
    const { stream, events } = await open(changed, 'v0.2', { asking: { inTurn: inTurnOf(shares, claim, null) } })
    const first = stream.next()
    events.announce('item', { id: '1' })
    await first
    await stream.return()
    await expect.poll(() => [shares.hasRoom(claim), events.listenerCount()]).toEqual([true, 0])
  })
})

describe('clients of one subscription with deferred fragments', () => {
  /** A hub over the items, with clients that note what they receive. */
  function shared() {
    const items = itemsGraph()
    const hub = createHub(items.graph.engine)
    onTestFinished(() => hub.close())
    const join = async (form: IncrementalForm | undefined, source = changed, inTurn?: InTurn) => {
      const request = { document: parse(source), viewer: anonymous, requestId: 'r', incremental: form, inTurn }
      const membership = (await hub.join({ request, formatErrors: errors => errors.map(error => error.toJSON()) })) as Membership
      const [heard, ended]: [string[], unknown[]] = [[], []]
      membership.listen({ send: ({ json }) => void heard.push(json), end: errors => void ended.push(errors) })
      return { membership, heard, ended, payloads: () => heard.map(json => JSON.parse(json) as SentPayload) }
    }
    return { ...items, hub, join }
  }

  test('get the same bytes in one form, from one set of fetches', async () => {
    const { join, hub, events, ...items } = shared()
    const clients = [await join('v0.2'), await join('v0.2', 'subscription {\n changed { name, ... @defer(label: "later") { slow } } }')]
    events.announce('item', { id: '1' })
    await expect.poll(() => clients.map(({ heard }) => heard.length)).toEqual([2, 2])
    expect(clients[0]!.heard).toEqual(clients[1]!.heard)
    expect(slowFetches(items)).toEqual(['b: Item{slow}'])
    expect([hub.figures.upstreams(), hub.figures.events(), hub.figures.deliveries()]).toEqual([1, 1, 2])
  })

  test('have a stream for each form', async () => {
    const { join, hub, events } = shared()
    const clients = [await join('v0.2'), await join('20220824'), await join(undefined)]
    expect(hub.figures.upstreams()).toBe(3)
    events.announce('item', { id: '1' })
    await expect.poll(() => clients.map(({ heard }) => heard.length)).toEqual([2, 2, 1])
    const [next, old, whole] = clients.map(client => client.payloads()) as [SentPayload[], SentPayload[], SentPayload[]]
    expect([next[0]!.pending?.length, old[0]!.pending, old[1]!.incremental?.[0]?.path]).toEqual([1, undefined, ['changed']])
    for (const payloads of [next, old, whole]) expect(mergePayloads(payloads).data).toEqual({ changed: { name: 'name 1', slow: 'slow 1' } })
  })

  test('go on when one of them leaves during an event, and the last to leave ends it', async () => {
    const { join, events, hold, gate, hub } = shared()
    const release = hold()
    const [one, other] = [await join('v0.2'), await join('v0.2')]
    events.announce('item', { id: '1' })
    await expect.poll(() => other.heard.length).toBe(1)
    one.membership.leave()
    release()
    await expect.poll(() => other.heard.length).toBe(2)
    expect(one.heard).toHaveLength(1)
    const before = gate.aborted
    hold()
    events.announce('item', { id: '2' })
    await expect.poll(() => other.heard.length).toBe(3)
    other.membership.leave()
    await expect.poll(() => gate.aborted, { timeout: 500 }).toBe(before + 1)
    expect([hub.figures.upstreams(), events.listenerCount()]).toEqual([0, 0])
  })

  test('get no part of an event whose first payload went out before they came', async () => {
    const { join, events, hold } = shared()
    const release = hold()
    const one = await join('v0.2')
    events.announce('item', { id: '1' })
    await expect.poll(() => one.heard.length).toBe(1)
    const other = await join('v0.2')
    release()
    await expect.poll(() => one.heard.length).toBe(2)
    events.announce('item', { id: '2' })
    await expect.poll(() => [one.heard.length, other.heard.length]).toEqual([4, 2])
    expect(mergePayloads(other.payloads()).data).toEqual({ changed: { name: 'name 2', slow: 'slow 2' } })
  })

  test.each(forms)('whose right ends during an event get its open parts failed, and nothing more; others get the parts (%s)', async form => {
    const { join, events, hold } = shared()
    const release = hold()
    const [one, other] = [await join(form), await join(form)]
    events.announce('item', { id: '1' })
    await expect.poll(() => [one.heard.length, other.heard.length]).toEqual([1, 1])
    one.membership.cut({ message: 'It is over.', extensions: { code: 'TOKEN_EXPIRED' } })
    one.membership.leave()
    const errors = [{ message: 'It is over.', extensions: { code: 'TOKEN_EXPIRED' } }]
    const failed = form === 'v0.2' ? { completed: [{ id: '0', errors }] } : { incremental: [{ path: ['changed'], label: 'later', data: null, errors }] }
    expect(one.payloads()[1]).toEqual({ ...failed, hasNext: false })
    release()
    await expect.poll(() => other.heard.length).toBe(2)
    expect(mergePayloads(other.payloads())).toMatchObject({ data: { changed: { name: 'name 1', slow: 'slow 1' } }, failed: [] })
    expect(one.heard).toHaveLength(2)
  })

  test('get the open parts of an event failed when the stream ends for all', async () => {
    const { join, events, hold, hub } = shared()
    hold()
    const clients = [await join('v0.2'), await join('v0.2')]
    events.announce('item', { id: '1' })
    await expect.poll(() => clients.map(({ heard }) => heard.length)).toEqual([1, 1])
    hub.close()
    for (const { payloads, ended } of clients) {
      const { failed, errors } = mergePayloads(payloads())
      expect([failed, errors.map(({ extensions }) => extensions?.code), ended.length]).toEqual([[['changed']], ['UPSTREAM_FAILED'], 1])
    }
  })
})
