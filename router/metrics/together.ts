import { setImmediate } from 'node:timers/promises'

/**
 * How to combine metrics that must not be added up: a sum of delays means nothing, and a mean hides the one process
 * that is too busy.
 */
const otherwise: readonly (readonly [figures: RegExp, join: (one: number, other: number) => number])[] = [
  [/^nodejs_eventloop_(?:lag_(?!min_)|utilization_)|^nodejs_version_info$|^process_start_time_seconds$/, Math.max],
  [/^nodejs_eventloop_lag_min_/, Math.min],
]

/** All lines of one metric. */
interface Family {
  /** The lines that describe the metric. */
  readonly head: string[]
  readonly join: (one: number, other: number) => number
  /** Values of the metric, by the text before each. */
  readonly values: Map<string, number>
}

/**
 * Combines the metrics of several processes of one program: counters, histograms and gauges are added up; of the event
 * loop, the busiest process counts; of start times, the latest. Callers can create some ten thousand lines, so lines
 * are parsed only as far as needed: the text before a value is the same in each process.
 * @param texts metrics of each process, in Prometheus' text format
 */
export async function together(texts: readonly string[]): Promise<string> {
  const families: Families = new Map()
  for (const text of texts) {
    addTo(families, text)
    // They are long where callers have many names: others have a turn between.
    await setImmediate()
  }
  return written(families, () => true)
}

/**
 * Extracts what ended processes have counted, to be added to later sums: without it a sum would decrease, which
 * Prometheus takes for a restart and then counts everything again.
 * @returns counters and histograms only
 */
export function keptOf(texts: readonly string[]): string {
  const families: Families = new Map()
  for (const text of texts) addTo(families, text)
  return written(families, ({ head }) => head.some(line => /^# TYPE \S+ (?:counter|histogram)$/.test(line)))
}

type Families = Map<string, Family>

function addTo(families: Families, text: string): void {
  let family: Family | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (line.startsWith('# ')) {
      const [, kind, name] = line.split(' ', 3)
      if (kind === 'HELP') {
        family = families.get(name!) ?? { head: [], join: joinOf(name!), values: new Map() }
        families.set(name!, family)
      }
      if (family && family.head.length < 2) family.head.push(line)
      continue
    }
    const at = line.lastIndexOf(' ')
    const [key, value] = [line.slice(0, at), numberOf(line.slice(at + 1))]
    const before = family!.values.get(key)
    family!.values.set(key, before === undefined ? value : family!.join(before, value))
  }
}

const joinOf = (name: string) => otherwise.find(([figures]) => figures.test(name))?.[1] ?? ((one: number, other: number) => one + other)

const numberOf = (written: string): number => (written === '+Inf' ? Number.POSITIVE_INFINITY : written === '-Inf' ? Number.NEGATIVE_INFINITY : Number(written))

function written(families: Families, wanted: (family: Family) => boolean): string {
  const lines: string[] = []
  for (const family of families.values()) {
    if (!wanted(family)) continue
    lines.push(...family.head)
    for (const [key, value] of family.values) lines.push(`${key} ${Number.isFinite(value) || Number.isNaN(value) ? value : value > 0 ? '+Inf' : '-Inf'}`)
  }
  return `${lines.join('\n')}\n`
}
