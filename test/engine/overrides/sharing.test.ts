import { parse } from 'graphql'
import { Registry } from 'prom-client'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Engine, OperationRequest } from '../../../router/engine/engine.ts'
import { createChanging } from '../../../router/engine/native/changing.ts'
import { deduplicated } from '../../../router/engine/native/deduplicate.ts'
import { overriding } from '../../../router/engine/native/overriding.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { countOverrides } from '../../../router/metrics/overrides.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { subscribeAlone } from '../../kit/stream.ts'
import { compose, testGraph } from '../supergraph-fixture.ts'
import { movingGraph } from './graph.ts'

const { overrides } = readSupergraph(compose(movingGraph('labelled')))

/** Labels that are active for requests which are decided now. */
let active: ReadonlySet<string>
let counted: [label: string, isActive: boolean][]
let engine: Engine
let sent: { readonly subgraph: string }[]

/** Decides by what `active` is at the time of the request. */
const decide = () => {
  const now = active
  return { isActive: (label: string) => now.has(label) }
}
const decidedIn = (graph: Engine) =>
  overriding(graph, { labels: overrides!, exposePlans: true, decide, counted: (label, isActive) => void counted.push([label, isActive]) })

beforeEach(() => {
  active = new Set()
  counted = []
  const graph = testGraph(movingGraph('labelled'), { exposePlans: true })
  sent = graph.sent
  engine = decidedIn(deduplicated(graph.engine, []))
})

const documents = new Map<string, ReturnType<typeof parse>>()
function request(source: string, more: Partial<OperationRequest> = {}): OperationRequest {
  const document = documents.get(source) ?? parse(source)
  documents.set(source, document)
  return { document, viewer: anonymous, requestId: 'request-1', ...more }
}
const show = { headers: new Headers({ 'x-graphql-plan': 'show' }) }
const renamed = 'subscription { renamed { name } }'

describe('the decision of a request', () => {
  it('separates running queries that are equal otherwise', async () => {
    const ask = (...now: string[]) => {
      active = new Set(now)
      return engine.execute(request('{ best { name } }'))
    }
    const answers = await Promise.all([ask(), ask('one'), ask(), ask('one', 'percent(25)')])
    expect(answers.map(({ data }) => (data as { best: { name: string } }).best.name)).toEqual(['a b2', 'b b2', 'a b2', 'b b2'])
    // Two runs: one asks b, then a; the other asks b alone.
    expect(sent.map(({ subgraph }) => subgraph).sort()).toEqual(['a', 'b', 'b'])
  })

  it('holds for every payload of an answer with deferred fragments', async () => {
    active = new Set(['one', 'percent(25)'])
    const answer = await engine.executeIncrementally!(request('{ items(first: 1) { id name ... @defer { price(first: 1) } } }', { incremental: 'v0.2' }))
    active = new Set()
    const payloads: unknown[] = []
    if (!('next' in answer)) throw new Error('It is not incremental.')
    for (let each = await answer.next(); !each.done; each = await answer.next()) payloads.push(each.value)
    expect(payloads).toMatchObject([{ data: { items: [{ name: 'b b1' }] } }, { incremental: [{ data: { price: 11 } }] }])
  })

  it('is shown for every label with the plan', async () => {
    active = new Set(['one', 'percent(5.5)'])
    const { extensions } = await engine.execute(request('{ best { name } }', show))
    expect(extensions?.overrides).toEqual({ one: true, 'percent(25)': false, 'percent(5.5)': true, 'two/x': false })
    expect((await engine.execute(request('{ best { name } }'))).extensions).toBeUndefined()
  })

  it('is refused with BAD_REQUEST when it cannot be read', async () => {
    const unread = overriding(engine, { labels: overrides!, decide: () => null })
    const refused = { errors: [{ message: expect.stringContaining('x-graphql-override'), extensions: { code: 'BAD_REQUEST' } }] }
    for (const result of [unread.execute(request('{ total }')), unread.executeIncrementally!(request('{ total }')), unread.prepareStream(request(renamed))])
      expect(await result).toMatchObject(refused)
  })
})

describe('a subscription', () => {
  const keyOf = async (...now: string[]) => {
    active = new Set(now)
    const prepared = await engine.prepareStream(request(renamed))
    return 'key' in prepared ? prepared.key : null
  }

  it('is shared among callers with the same decision on the labels that it touches', async () => {
    const key = await keyOf()
    expect(await keyOf('percent(25)')).toBe(key)
    expect(await keyOf('one')).not.toBe(key)
    expect(await keyOf('one', 'percent(25)')).toBe(await keyOf('one'))
    active = new Set(['percent(25)'])
    const shown = await engine.prepareStream(request(renamed, show))
    active = new Set()
    const other = await engine.prepareStream(request(renamed, show))
    expect('key' in shown && 'key' in other && shown.key !== other.key).toBe(true)
  })

  it('keeps its decision for all of its events, and when it is started again', async () => {
    active = new Set(['one'])
    const asked = request(renamed)
    const stream = await subscribeAlone(engine, asked)
    active = new Set()
    const names = async (events: typeof stream) => {
      const found: unknown[] = []
      if (Symbol.asyncIterator in events) for await (const { data } of events) found.push((data as { renamed: { name: string } }).renamed.name)
      return found
    }
    expect(await names(stream)).toEqual(['b b1', 'b b2'])
    expect(await names(await subscribeAlone(engine, asked))).toEqual(['b b1', 'b b2'])
    expect(await names(await subscribeAlone(engine, request(renamed)))).toEqual(['a b1', 'a b2'])
  })

  it('goes on when the graph is replaced by one in which its decision means the same', async () => {
    const changing = createChanging(engine)
    active = new Set(['one'])
    const asked = request(renamed)
    changing.adopt!(asked.document)
    const prepared = await changing.prepareStream(asked)
    if (!('start' in prepared)) throw new Error('It does not start.')
    await prepared.start(new AbortController().signal)
    active = new Set()
    const judged: Promise<boolean>[] = []
    changing.onChange!(remains => void judged.push(remains({ request: asked, basis: prepared.basis!() })))
    await changing.change(decidedIn(testGraph(movingGraph('labelled')).engine))
    expect(await judged[0]).toBe(true)
    expect(counted).toEqual([['one', true]])
  })
})

describe('supergraph_override_requests_total', () => {
  it('counts each request once for every label that it touches', async () => {
    active = new Set(['one'])
    await engine.execute(request('{ total best { name } }'))
    await engine.execute(request('{ best { extra } }'))
    expect(counted).toEqual([
      ['one', true],
      ['two/x', false],
    ])
  })

  it('names fifty labels, and counts the others together', async () => {
    const registry = new Registry()
    const count = countOverrides(registry)
    for (let n = 0; n < 60; n++) count(`label${n}`, n % 2 === 0)
    const text = await registry.metrics()
    const names = new Set([...text.matchAll(/label="([^"]+)"/g)].map(([, name]) => name))
    expect([names.size, names.has('label49'), names.has('label50'), names.has('other')]).toEqual([51, true, false, true])
    expect(text).toContain('supergraph_override_requests_total{label="other",active="true"} 5')
    expect(text).toContain('supergraph_override_requests_total{label="label0",active="false"} 0')
  })
})
