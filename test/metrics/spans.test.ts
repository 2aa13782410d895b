import { expect, test } from 'vitest'
import { doFor } from '../../platform/caller/cause.ts'
import { beginSpan, below, finished, outsideTraces, type Span, traced, traceHeaders, traceparentNow } from '../../platform/caller/trace.ts'
import { openTracing, readTraceparent } from '../../router/tracing/otlp.ts'

/** A span that notes what begins below it, and what it and they end with. */
function noting(name: string, kept: boolean, noted: unknown[] = []): Span & { readonly noted: unknown[] } {
  return {
    noted,
    traceparent: `of ${name}`,
    kept,
    begin(below, kind, facts) {
      noted.push(['begin', `${name} > ${below}`, kind, facts])
      return noting(`${name} > ${below}`, kept, noted)
    },
    end: (facts, failure) => void noted.push(['end', name, facts, (failure as Error | undefined)?.message]),
  }
}

test('a span ends with its work, and records the kind of failure', async () => {
  const span = noting('request', true)
  const inside = await finished(span, async () => [traceparentNow(), traceHeaders()])
  expect(inside).toEqual(['of request', ['traceparent', 'of request']])
  expect([traceparentNow(), traceHeaders()]).toEqual([undefined, []])
  const failing = finished(span, () => below(span, () => traced('plan', 'internal', { of: 1 }, () => Promise.reject(new Error('no way')))))
  await expect(failing).rejects.toThrow('no way')
  expect(span.noted).toEqual([
    ['end', 'request', undefined, undefined],
    ['begin', 'request > plan', 'internal', { of: 1 }],
    ['end', 'request > plan', {}, 'no way'],
    ['end', 'request', {}, 'no way'],
  ])
})

test('records nothing for an unsampled trace, and tells other services not to sample it either', async () => {
  const span = noting('request', false)
  await below(span, async () => {
    expect(beginSpan('SELECT posts', 'client')).toBeUndefined()
    expect(await traced('plan', 'internal', {}, async () => traceHeaders())).toEqual(['traceparent', 'of request'])
  })
  expect(span.noted).toEqual([])
})

test('work outside of traces is part of none; afterwards the former context returns', () => {
  const span = noting('request', true)
  below(span, () => {
    for (const outside of [outsideTraces, <Result>(work: () => Result) => doFor(null, work)]) {
      outside(() => {
        expect(traceparentNow()).toBeUndefined()
        expect(beginSpan('job', 'consumer')).toBeUndefined()
      })
      expect(traceparentNow()).toBe('of request')
    }
    expect(below(undefined, traceparentNow)).toBe('of request')
  })
  expect(span.noted).toEqual([])
})

test('a client’s trace continues below its span; spans of a sampled trace have ids, others record nothing', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const [all, none] = [1, 0].map(share =>
    openTracing({ endpoint: 'http://127.0.0.1:9', share, service: 'test' }).begin('POST /graphql', 'server', `00-${traceId}-b7ad6b7169203331-00`),
  )
  const spans = [all!, all!.begin('plan', 'internal'), all!.begin('SELECT posts', 'client')].map(({ traceparent }) => readTraceparent(traceparent)!)
  expect(spans.map(span => [span.traceId, span.traceFlags])).toEqual(Array(3).fill([traceId, 1]))
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(3)
  expect([all!.kept, none!.kept, none!.begin('plan', 'internal').kept]).toEqual([true, false, false])
  expect(readTraceparent(none!.traceparent)).toMatchObject({ traceId, traceFlags: 0 })
  expect(none!.begin('plan', 'internal').traceparent).toBe(none!.traceparent)
})

test('an invalid trace header starts a new trace', () => {
  const tracing = openTracing({ endpoint: 'http://127.0.0.1:9', share: 1, service: 'test' })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  for (const written of [`00-${traceId}-0000000000000000-01`, `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`, `00-${traceId}-b7ad6b7169203331-01-more`, 7])
    expect(tracing.begin('one', 'server', written).traceparent).not.toContain(traceId)
})
