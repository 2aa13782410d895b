import { Counter, Histogram, type Registry } from 'prom-client'
import type { Platform } from './network.ts'
import { platforms } from './networks.ts'

/** Outcomes of a delivery: `postponed` is tried again later, `given_up` failed before the network was called. */
export const deliveryOutcomes = ['published', 'refused', 'unknown', 'postponed', 'given_up'] as const

export interface DeliveryFigures {
  /** Counts a delivery by its outcome. A delivery whose outcome was unknown is counted again when it becomes known. */
  ended(post: { readonly platform: Platform }, outcome: (typeof deliveryOutcomes)[number]): void
  /** Measures the delay between a post's scheduled time and its publication. */
  published(post: { readonly platform: Platform; readonly scheduledAt: Date | null; readonly publishedAt: Date | null }): void
}

export function measureDelivery(registry: Registry): DeliveryFigures {
  const registers: [Registry] = [registry]
  const deliveries = new Counter({
    name: 'publishing_deliveries_total',
    help: 'Deliveries of posts that ended, by network and outcome.',
    labelNames: ['network', 'outcome'],
    registers,
  })
  const lateness = new Histogram({
    name: 'publishing_delivery_lateness_seconds',
    help: 'From the time at which a post was to be published to the moment at which its network had it.',
    labelNames: ['network'],
    buckets: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600],
    registers,
  })
  // The series exists from the start: a series that appears with its first failure shows no increase.
  for (const network of platforms) {
    lateness.zero({ network })
    for (const outcome of deliveryOutcomes) deliveries.inc({ network, outcome }, 0)
  }
  return {
    ended: ({ platform }, outcome) => deliveries.inc({ network: platform, outcome }),
    published({ platform, scheduledAt, publishedAt }) {
      if (scheduledAt && publishedAt) lateness.observe({ network: platform }, Math.max(0, (publishedAt.getTime() - scheduledAt.getTime()) / 1000))
    },
  }
}

/** Counts days on which stored sums of figures were wrong. */
export const countDrift = (registry: Registry): { inc(days: number): void } =>
  new Counter({
    name: 'publishing_day_sums_drift_total',
    help: 'Days of brands whose sums of figures were found not to be what their posts come to.',
    registers: [registry],
  })
