import { statementsOf } from '../../../test/kit/plans.ts'
import { percentile } from '../../load/load.ts'

/** What one operation takes: time in ms from the engine's door to the answer, processor time in ms, and statements. */
export interface Taken {
  readonly what: string
  readonly p50: number
  readonly p99: number
  readonly cpu: number
  readonly statements: number
}

/** Times an operation, one at a time, after three that do not count. */
export async function timeOperation(what: string, runs: number, work: () => Promise<unknown>): Promise<Taken> {
  for (let run = 0; run < 3; run += 1) await work()
  const statements = (await statementsOf(work, /./)).length
  const times = new Float64Array(runs)
  const before = process.cpuUsage()
  for (let run = 0; run < runs; run += 1) {
    const began = performance.now()
    await work()
    times[run] = performance.now() - began
  }
  const { user, system } = process.cpuUsage(before)
  times.sort()
  return { what, p50: percentile(times, 0.5), p99: percentile(times, 0.99), cpu: (user + system) / 1000 / runs, statements }
}

/** A Markdown table; what takes longer than it may is bold. @param most ms that the median may take */
export const tableOfOperations = (rows: readonly Taken[], most: number): string =>
  `| | p50 ms | p99 ms | CPU ms | statements |
| --- | --- | --- | --- | --- |
${rows.map(({ what, p50, p99, cpu, statements }) => `| ${what} | ${p50 > most ? `**${p50.toFixed(1)}**` : p50.toFixed(1)} | ${p99.toFixed(1)} | ${cpu.toFixed(1)} | ${statements} |`).join('\n')}

The median may take ${most} ms; ${rows.filter(({ p50 }) => p50 > most).length} take longer.`
