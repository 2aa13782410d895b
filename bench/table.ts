/** What one contender cost in each round, and what else is worth a column. */
export interface Row {
  readonly name: string
  readonly samples: readonly number[]
  readonly notes?: Readonly<Record<string, string>>
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median over the rounds of one row's cost as a multiple of another's: rounds lie side by side in time, so what disturbs both falls out. */
export const ratio = (of: Row, to: Row): number => median(of.samples.map((sample, round) => sample / to.samples[round]!))

/**
 * Rows as a Markdown table.
 * @param unit of the samples
 * @param against rows whose cost is also told as a multiple: `this row / that row`
 */
export function tableOf(rows: readonly Row[], unit: string, against: readonly string[] = []): string {
  const noted = Object.keys(rows[0]?.notes ?? {})
  const references = against.flatMap(name => rows.filter(row => row.name === name))
  const head = ['', `CPU ${unit} (median [min-max])`, ...noted, ...references.map(({ name }) => `÷ ${name}`)]
  const lines = rows.map(row => [
    row.name,
    `${digits(median(row.samples))} [${digits(Math.min(...row.samples))}-${digits(Math.max(...row.samples))}]`,
    ...noted.map(name => row.notes?.[name] ?? ''),
    ...references.map(reference => ratio(row, reference).toFixed(2)),
  ])
  return [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(3))
