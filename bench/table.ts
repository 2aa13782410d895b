/** A contender's cost in each round, with further columns. */
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

/** Returns the median ratio of two rows' costs over the rounds: rounds alternate, so common disturbances cancel out. */
export const ratio = (of: Row, to: Row): number => median(of.samples.map((sample, round) => sample / to.samples[round]!))

/**
 * Formats rows as a Markdown table.
 * @param unit of the samples
 * @param against rows with a column of ratios: `this row / that row`
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
