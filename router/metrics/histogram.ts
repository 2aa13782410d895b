import type { Metric, Registry } from 'prom-client'

export interface HistogramOptions {
  /** As Prometheus names metrics. */
  readonly name: string
  readonly help: string
  /** Upper bounds, in ascending order. */
  readonly buckets: readonly number[]
}

/** What is observed under one set of labels. */
export interface Series {
  observe(value: number): void
}

/**
 * Enters a histogram. What happens with every request is to cost nothing beside it: a series is found once and kept by whoever observes,
 * and prom-client, which looks labels up and checks them each time, is told when somebody reads.
 * @returns what finds the series of a set of labels; the same set has to be asked once
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
