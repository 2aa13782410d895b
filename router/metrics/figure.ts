import { Counter, Gauge, type Registry } from 'prom-client'

/** One value of a metric, for one set of labels. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric whose value is computed when it is read, and costs nothing until then. */
export interface Figure {
  /** Name of the metric, in Prometheus' convention. */
  readonly name: string
  readonly help: string
  /** Whether the value only grows. @default whether the name ends in `_total` */
  readonly kind?: 'counter' | 'gauge'
  /** Names of the labels, if the metric has any. */
  readonly labels?: readonly string[]
  read(): number | readonly Reading[] | Promise<readonly Reading[]>
}

/** Registers metrics whose values are computed when the registry is read. */
export function registerFigures(registry: Registry, figures: readonly Figure[]): void {
  for (const figure of figures) register(figure, [registry])
}

function register({ name, help, labels = [], kind = name.endsWith('_total') ? 'counter' : 'gauge', read }: Figure, registers: [Registry]): void {
  const readings = async (): Promise<readonly Reading[]> => {
    const found = await read()
    return typeof found === 'number' ? [{ labels: {}, value: found }] : found
  }
  const described = { name, help, labelNames: [...labels], registers }
  if (kind === 'counter') {
    const counter: Counter = new Counter({
      ...described,
      async collect() {
        const found = await readings()
        counter.reset()
        for (const each of found) counter.inc(each.labels, each.value)
      },
    })
  } else {
    const gauge: Gauge = new Gauge({
      ...described,
      async collect() {
        const found = await readings()
        // A removed label disappears from the figure.
        gauge.reset()
        for (const each of found) gauge.set(each.labels, each.value)
      },
    })
  }
}
