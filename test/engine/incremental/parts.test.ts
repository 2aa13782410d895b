import { GraphQLError } from 'graphql'
import { describe, expect, test } from 'vitest'
import type { IncrementalAnswer } from '../../../router/engine/engine.ts'
import { mergePayloads } from '../../kit/payloads.ts'
import { accessByScopes, fetchesIn, itemsGraph } from './graph.ts'
import { begin, payloadsOf, rest } from './payloads-of.ts'

describe('the fetches of an operation with deferred fragments', () => {
  test('keep those that only a fragment needs until the first payload is out', async () => {
    const { graph, hold } = itemsGraph()
    const release = hold()
    const answer = (await begin(graph, '{ items { name ... @defer { slow } } }', 'v0.2')) as IncrementalAnswer
    expect(fetchesIn(graph.sent)).toEqual(['a: {items{name id}}'])
    const first = await answer.next()
    expect(first.value).toMatchObject({ data: { items: [{ name: 'name 1' }, { name: 'name 2' }, { name: 'name 3' }] }, hasNext: true })
    release()
    expect(mergePayloads([JSON.parse(JSON.stringify(first.value)), ...(await rest(answer))]).data.items[0]).toEqual({ name: 'name 1', slow: 'slow 1' })
    expect(fetchesIn(graph.sent)[1]).toBe('b: Item{slow}')
  })

  test.each([
    ['divide the fields of one subgraph between the payloads', '{ item(id: 1) { slow ... @defer { slower } } }', ['b: Item{slow}', 'b: Item{slower}']],
    ['ask once for what the first payload and a part need', '{ item(id: 1) { slow ... @defer { slow fails } } }', ['b: Item{slow}', 'b: Item{fails}']],
    [
      'ask once for what two parts need',
      '{ item(id: 1) { ... @defer { slow fails } ... @defer { slow slower } } }',
      ['b: Item{slow}', 'b: Item{fails}', 'b: Item{slower}'],
    ],
    [
      'bring for a part around another one what both need',
      '{ item(id: 1) { ... @defer { slow ... @defer { slow slower } } } }',
      ['b: Item{slow}', 'b: Item{slower}'],
    ],
  ])('%s', async (_what, source, expected) => {
    const { graph } = itemsGraph()
    await payloadsOf(graph, source)
    expect(
      fetchesIn(graph.sent)
        .filter(each => each.startsWith('b'))
        .sort(),
    ).toEqual(expected.sort())
  })

  test('ask for root fields of a query by themselves, and for none twice', async () => {
    const { graph } = itemsGraph()
    const payloads = await payloadsOf(graph, '{ now ... @defer { far items { id } now } }')
    expect(payloads[0]!.data).toEqual({ now: 'now' })
    expect(fetchesIn(graph.sent)).toEqual(['a: {now}', expect.stringMatching(/^[ab]: /), expect.stringMatching(/^[ab]: /)])
    expect(mergePayloads(payloads).data).toEqual({ now: 'now', far: 'far', items: [{ id: '1' }, { id: '2' }, { id: '3' }] })
  })

  test('run a mutation once, and complete its entity later', async () => {
    const { graph } = itemsGraph()
    const payloads = await payloadsOf(graph, 'mutation { rename(id: 2) { id ... @defer { slow name } } }')
    expect(graph.sent.map(({ text }) => text.includes('rename'))).toEqual([true, false])
    expect(payloads[0]!.data).toEqual({ rename: { id: '2' } })
    expect(mergePayloads(payloads).data).toEqual({ rename: { id: '2', slow: 'slow 2', name: 'name 2' } })
  })

  test('are aborted when the caller leaves, and leave no payload', async () => {
    const { graph, gate, hold } = itemsGraph()
    hold()
    const leaving = new AbortController()
    const answer = (await begin(graph, '{ items { name ... @defer { slow } } }', 'v0.2', { signal: leaving.signal })) as IncrementalAnswer
    await answer.next()
    const next = answer.next()
    leaving.abort()
    expect(await next).toEqual({ value: undefined, done: true })
    await expect.poll(() => gate.aborted).toBe(1)
  })

  test('are aborted when the answer is not read further', async () => {
    const { graph, gate, hold } = itemsGraph()
    hold()
    const answer = (await begin(graph, '{ items { name ... @defer { slow } } }', 'v0.2')) as IncrementalAnswer
    await answer.next()
    const next = answer.next()
    expect(await answer.return()).toEqual({ value: undefined, done: true })
    expect(await next).toEqual({ value: undefined, done: true })
    await expect.poll(() => gate.aborted).toBe(1)
  })

  test('stand in the plan under their fragment', async () => {
    const { graph } = itemsGraph({ exposePlans: true })
    const payloads = await payloadsOf(graph, '{ items { name ... @defer(label: "late") { slow } } }', 'v0.2', { headers: { 'x-graphql-plan': 'show' } })
    expect(payloads.map(({ extensions }) => extensions !== undefined)).toEqual([false, true])
    expect(String(payloads[1]!.extensions?.queryPlan)).toMatch(
      /^1\. a, at once: query\n[\s\S]*\nDefer\("late", items\)\n2\. b, after the first payload: entities at items\.@\n/,
    )
  })
})

describe('the payloads of an operation with deferred fragments', () => {
  const { graph } = itemsGraph()

  test('announce parts by id, path and label, and complete each once (v0.2)', async () => {
    expect(await payloadsOf(graph, '{ item(id: 1) { id ... @defer(label: "later") { slow } } }')).toEqual([
      { data: { item: { id: '1' } }, pending: [{ id: '0', path: ['item'], label: 'later' }], hasNext: true },
      { incremental: [{ id: '0', data: { slow: 'slow 1' } }], completed: [{ id: '0' }], hasNext: false },
    ])
  })

  test('name each part by path and label (2022)', async () => {
    expect(await payloadsOf(graph, '{ item(id: 1) { id ... @defer(label: "later") { slow } } }', '20220824')).toEqual([
      { data: { item: { id: '1' } }, hasNext: true },
      { incremental: [{ path: ['item'], label: 'later', data: { slow: 'slow 1' } }], hasNext: false },
    ])
  })

  test('send a field that two parts share once (v0.2), with the part of the longer path, and in both of them (2022)', async () => {
    const source = '{ ... @defer(label: "out") { item(id: 1) { name } } item(id: 1) { id ... @defer(label: "in") { name slow } } }'
    const [first, second] = await payloadsOf(graph, source)
    expect(first!.pending).toEqual([
      { id: '0', path: [], label: 'out' },
      { id: '1', path: ['item'], label: 'in' },
    ])
    const entries = [...second!.incremental!]
    expect(entries[0]).toEqual({ id: '1', data: { name: 'name 1' } })
    const both = (await payloadsOf(graph, source, '20220824')).flatMap(({ incremental }) => incremental ?? [])
    expect(both.map(({ label, data }) => [label, data])).toEqual([
      ['out', { item: { name: 'name 1' } }],
      ['in', { name: 'name 1', slow: 'slow 1' }],
    ])
  })

  test('name the object within the part that a field completes (v0.2)', async () => {
    const payloads = await payloadsOf(graph, '{ item(id: 1) { owner { id } ... @defer { owner { title } } } }')
    expect(payloads[1]!.incremental).toEqual([{ id: '0', subPath: ['owner'], data: { title: 'title o1' } }])
  })

  test('announce a nested part when the part around it is delivered', async () => {
    const payloads = await payloadsOf(graph, '{ item(id: 1) { id ... @defer(label: "out") { owner { id ... @defer(label: "in") { title } } } } }')
    expect(payloads[0]!.pending).toEqual([{ id: '0', path: ['item'], label: 'out' }])
    expect(payloads[1]).toMatchObject({ pending: [{ id: '1', path: ['item', 'owner'], label: 'in' }], completed: [{ id: '0' }] })
    expect(mergePayloads(payloads).data).toEqual({ item: { id: '1', owner: { id: 'o1', title: 'title o1' } } })
  })

  test('have no part for a fragment whose fields all stand outside it too', async () => {
    expect(await payloadsOf(graph, '{ item(id: 1) { id name ... @defer { name } } }')).toEqual([{ data: { item: { id: '1', name: 'name 1' } } }])
  })

  test('hold an error in the part whose field failed', async () => {
    const payloads = await payloadsOf(graph, '{ item(id: 1) { id ... @defer { fails } } }')
    expect(payloads[0]!.errors).toBeUndefined()
    expect(payloads[1]!.incremental).toEqual([
      { id: '0', data: { fails: null }, errors: [expect.objectContaining({ path: ['item', 'fails'], message: 'It fails on purpose.' })] },
    ])
  })

  test('fail a part whose fragment became null', async () => {
    const source = '{ item(id: 1) { id ... @defer(label: "n") { needed } ... @defer(label: "s") { slow } } }'
    const later = (await payloadsOf(graph, source)).slice(1)
    expect(later.flatMap(({ completed }) => completed ?? [])).toContainEqual({ id: '0', errors: [expect.objectContaining({ path: ['item', 'needed'] })] })
    expect(later.flatMap(({ incremental }) => incremental ?? [])).toEqual([{ id: '1', data: { slow: 'slow 1' } }])
    const old = (await payloadsOf(graph, source, '20220824')).flatMap(({ incremental }) => incremental ?? [])
    expect(old.find(({ label }) => label === 'n')).toMatchObject({ path: ['item'], data: null, errors: [{ path: ['item', 'needed'] }] })
  })

  test('announce no part below an object that the first payload made null', async () => {
    const [only, ...more] = await payloadsOf(graph, '{ item(id: 1) { needed ... @defer { slow } } }')
    expect([only!.data, only!.errors?.length, only!.hasNext, more]).toEqual([{ item: null }, 1, undefined, []])
  })

  test.each([
    [{ later: false }, 1],
    [{ later: true }, 2],
    [{}, 2],
  ])('are decided by the variable of the condition: %j', async (variables, count) => {
    expect(await payloadsOf(graph, 'query($later: Boolean) { item(id: 1) { id ... @defer(if: $later) { slow } } }', 'v0.2', { variables })).toHaveLength(count)
  })

  test('are one where @skip or @include removes the fragment', async () => {
    expect(await payloadsOf(graph, '{ item(id: 1) { id ... @skip(if: true) @defer { slow } } }')).toEqual([{ data: { item: { id: '1' } } }])
  })

  test.each(['v0.2', '20220824'] as const)('hold a refused field as null with its error in its own part (%s)', async form => {
    const guarded = itemsGraph({ access: accessByScopes() })
    const payloads = await payloadsOf(guarded.graph, '{ item(id: 1) { name ... @defer { secret slow } } }', form)
    expect([payloads[0]!.data, payloads[0]!.errors]).toEqual([{ item: { name: 'name 1' } }, undefined])
    const [entry] = payloads[1]!.incremental!
    expect([entry!.data, entry!.errors?.map(({ path, extensions }) => [path, extensions?.code])]).toEqual([
      { secret: null, slow: 'slow 1' },
      [[['item', 'secret'], 'UNAUTHORIZED_FIELD_OR_TYPE']],
    ])
    expect(guarded.graph.sent.some(({ text }) => text.includes('secret'))).toBe(false)
  })

  test('end with an error in each open part when they are cut', async () => {
    const held = itemsGraph()
    held.hold()
    const answer = (await begin(held.graph, '{ items { id ... @defer { slow } } }', 'v0.2')) as IncrementalAnswer
    await answer.next()
    const next = answer.next()
    answer.cut(new GraphQLError('It is over.', { extensions: { code: 'TOKEN_EXPIRED' } }))
    expect((await next).value).toMatchObject({ completed: ['0', '1', '2'].map(id => ({ id, errors: [{ message: 'It is over.' }] })), hasNext: false })
    expect(await answer.next()).toEqual({ value: undefined, done: true })
  })
})

describe('the limits of incremental answers', () => {
  test('send the parts of a list that would bring too many with what is around them', async () => {
    const { graph } = itemsGraph({ incrementalParts: 2 })
    expect(await payloadsOf(graph, '{ items { id ... @defer { slow } } }')).toEqual([
      { data: { items: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) } },
    ])
    for (const form of ['v0.2', '20220824'] as const) {
      const payloads = await payloadsOf(graph, '{ now ... @defer { items { id ... @defer { slow } } } }', form)
      expect(mergePayloads(payloads)).toEqual({ data: { now: 'now', items: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) }, errors: [], failed: [] })
    }
  })

  test('fail the parts past the bytes of an answer', async () => {
    const { graph } = itemsGraph({ answerBytes: 90 })
    const payloads = await payloadsOf(graph, '{ items { id ... @defer { slow } } }')
    const merged = mergePayloads(payloads)
    expect(merged.failed.length).toBeGreaterThan(0)
    expect(merged.failed.length).toBeLessThan(3)
    expect(new Set(merged.errors.map(({ extensions }) => extensions?.code))).toEqual(new Set(['OPERATION_TOO_EXPENSIVE']))
  })

  test('count 1 for each part beside the cost of the whole operation', async () => {
    const { graph } = itemsGraph({ maxCost: 1000 })
    const costOf = async (source: string) => (await payloadsOf(graph, source, 'v0.2', { headers: { 'x-graphql-cost': 'show' } })).at(-1)!.extensions?.cost
    const whole = (await costOf('{ items { id slow } }')) as { estimated: number; actual: number }
    expect(await costOf('{ items { id ... @defer { slow } } }')).toMatchObject({ estimated: whole.estimated + 3, actual: whole.actual + 3 })
  })
})

describe('a streamed list', () => {
  const { graph } = itemsGraph()

  test('sends its first elements, then the others by id (v0.2)', async () => {
    expect(await payloadsOf(graph, '{ items @stream(initialCount: 1, label: "s") { id slow } }')).toEqual([
      { data: { items: [{ id: '1', slow: 'slow 1' }] }, pending: [{ id: '0', path: ['items'], label: 's' }], hasNext: true },
      {
        incremental: [
          {
            id: '0',
            items: [
              { id: '2', slow: 'slow 2' },
              { id: '3', slow: 'slow 3' },
            ],
          },
        ],
        completed: [{ id: '0' }],
        hasNext: false,
      },
    ])
  })

  test('sends its first elements, then the others by the index of the first of them (2022)', async () => {
    const [, second] = await payloadsOf(graph, '{ items @stream(initialCount: 2) { id } }', '20220824')
    expect(second).toEqual({ incremental: [{ path: ['items', 2], items: [{ id: '3' }] }], hasNext: false })
  })

  test('fetches its elements in two parts: the first payload does not wait for the others', async () => {
    const held = itemsGraph()
    const answer = (await begin(held.graph, '{ items @stream(initialCount: 1) { slow } }', 'v0.2')) as IncrementalAnswer
    expect(held.graph.sent.map(({ variables }) => variables.representations)).toEqual([undefined, [{ __typename: 'Item', id: '1' }]])
    const release = held.hold()
    expect((await answer.next()).value).toMatchObject({ data: { items: [{ slow: 'slow 1' }] } })
    const next = answer.next()
    release()
    expect((await next).value).toMatchObject({ incremental: [{ items: [{ slow: 'slow 2' }, { slow: 'slow 3' }] }] })
    expect(held.graph.sent).toHaveLength(3)
  })

  test.each([
    ['{ items @stream(initialCount: 3) { id } }', undefined, 1],
    ['{ items @stream(if: false) { id } }', undefined, 1],
    ['query($n: Int) { items @stream(initialCount: $n) { id } }', { n: 3 }, 1],
    ['query($n: Int) { items @stream(initialCount: $n) { id } }', { n: null }, 2],
    ['query($if: Boolean) { items @stream(if: $if) { id } }', { if: false }, 1],
  ])('%s with %j has %i payloads', async (source, variables, count) => {
    const payloads = await payloadsOf(graph, source, 'v0.2', { ...(variables && { variables }) })
    expect(payloads).toHaveLength(count)
    expect(mergePayloads(payloads).data.items).toHaveLength(3)
  })

  test('is refused where a variable is negative', async () => {
    const [only] = await payloadsOf(graph, 'query($n: Int) { items @stream(initialCount: $n) { id } }', 'v0.2', { variables: { n: -1 } })
    expect([only!.data, only!.errors?.[0]?.extensions?.code]).toEqual([undefined, 'BAD_USER_INPUT'])
  })

  test('announces the deferred fragments of its elements with them', async () => {
    for (const form of ['v0.2', '20220824'] as const) {
      const payloads = await payloadsOf(graph, '{ items @stream(initialCount: 1) { id ... @defer { slow } } }', form)
      expect(payloads[0]!.data).toEqual({ items: [{ id: '1' }] })
      expect(mergePayloads(payloads).data).toEqual({ items: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) })
    }
  })

  test('has an error with the elements that it belongs to', async () => {
    const [first, second] = await payloadsOf(graph, '{ items @stream(initialCount: 1) { fails } }')
    expect(first!.errors?.map(({ path }) => path)).toEqual([['items', 0, 'fails']])
    expect(second!.incremental?.[0]?.errors?.map(({ path }) => path)).toEqual([
      ['items', 1, 'fails'],
      ['items', 2, 'fails'],
    ])
  })

  test.each(['v0.2', '20220824'] as const)('fails as a whole where an element that is never null is null (%s)', async form => {
    const payloads = await payloadsOf(graph, '{ items @stream(initialCount: 0) { needed } }', form)
    expect(payloads[0]!.data).toEqual({ items: [] })
    const merged = mergePayloads(payloads)
    expect([merged.data.items, merged.failed.length, merged.errors.length]).toEqual([[], 1, 3])
  })
})

test('a streamed list whose elements would bring too many parts comes with these', async () => {
  const { graph } = itemsGraph({ incrementalParts: 2 })
  for (const form of ['v0.2', '20220824'] as const) {
    const payloads = await payloadsOf(graph, '{ items @stream(initialCount: 0) { id ... @defer { slow } } }', form)
    expect(payloads[0]!.data).toEqual({ items: [] })
    expect(mergePayloads(payloads).data).toEqual({ items: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) })
  }
})

test('an engine without incremental delivery knows neither directive', () => {
  const { graph } = itemsGraph({ incremental: false })
  expect(['defer', 'stream', 'skip'].map(name => graph.schema.getDirective(name) !== undefined)).toEqual([false, false, true])
})
