import fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { openHistogram } from '../../router/metrics/histogram.ts'

const description = { name: 'took_seconds', help: 'How long it took.', buckets: [0.1, 0.5, 1] }

test('a histogram reads as that of prom-client, as text and as JSON', async () => {
  const value = fc.oneof(fc.constantFrom(0, 0.1, 0.5, 1, 1.0000001), fc.double({ min: 0, max: 3, noNaN: true }))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('a', 'b'), value), { maxLength: 50 }), async observed => {
      const [ours, theirs] = [new Registry(), new Registry()]
      const own = openHistogram(ours, description)
      const other = new Histogram({ ...description, labelNames: ['of'], registers: [theirs] })
      const series = new Map<string, ReturnType<typeof own>>()
      for (const [of, seconds] of observed) {
        const present = series.get(of) ?? own({ of })
        series.set(of, present)
        present.observe(seconds)
        other.observe({ of }, seconds)
      }
      expect((await ours.metrics()).split('\n')).toEqual((await theirs.metrics()).split('\n'))
      expect(await ours.getMetricsAsJSON()).toMatchObject([{ type: 'histogram', aggregator: 'sum' }])
    }),
    { numRuns: 200 },
  )
})
