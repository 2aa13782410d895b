import type { Metric, Registry } from 'prom-client'

export interface HistogramOptions {
  /** Name of the metric, in Prometheus' convention. */
  readonly name: string
  readonly help: string
  /** Upper bounds of the buckets, in ascending order. */
  readonly buckets: readonly number[]
}

/** Collects observations under one set of labels. */
export interface Series {
  observe(value: number): void
}

/**
 * Registers a histogram. Observing must cost next to nothing, because it happens for every request: callers keep their
 * series, and prom-client, which looks up and checks labels each time, is updated when the registry is read.
 * @returns a function that creates the series of a set of labels; call it once for each set
 */
export function openHistogram(registry: Registry, { name, help, buckets }: HistogramOptions): (labels: Readonly<Record<string, string>>) => Series {
  const all: { readonly labels: Readonly<Record<string, string>>; readonly counts: Float64Array; sum: number }[] = []
  const read = () =>
    all.flatMap(({ labels, counts, sum }) => {
      let count = 0
      const below = [...buckets, '+Inf'].map((le, bucket) => {
        count += counts[bucket]!
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
      })
      return [...below, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
    })
  const metric = { name, help, type: 'histogram', aggregator: 'sum', get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: read() }) }
  registry.registerMetric(metric as unknown as Metric)
  return labels => {
    const series = { labels, counts: new Float64Array(buckets.length + 1), sum: 0 }
    all.push(series)
    return {
      observe(value) {
        let bucket = 0
        while (bucket < buckets.length && value > buckets[bucket]!) bucket += 1
        series.counts[bucket]! += 1
        series.sum += value
      },
    }
  }
}
