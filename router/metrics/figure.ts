import { Counter, Gauge, type Registry } from 'prom-client'

/** One value of a figure, for one set of labels. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Something that can be read at any moment: it costs nothing until it is. */
export interface Figure {
  /** As Prometheus names metrics. */
  readonly name: string
  readonly help: string
  /** Whether it only grows. @default that its name ends in `_total` */
  readonly kind?: 'counter' | 'gauge'
  /** The names of labels, where there is a value for each set of them. */
  readonly labels?: readonly string[]
  read(): number | readonly Reading[] | Promise<readonly Reading[]>
}

/** Enters figures that are read when the registry is. */
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
