import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileResult, type PlannedFiles, progressVariable, type RunResult, secondsVariable } from '../../test/kit/run/progress-reporter.ts'
import { rotationVariable } from '../../test/kit/run/sequencer.ts'
import { run } from './commands.ts'

/** What a run of test files came to. */
export interface TestsResult {
  readonly passed: number
  readonly skipped: number
  /** Files with a failure, by path. */
  readonly failedFiles: readonly string[]
  /** `file > test` for each failed test; the file alone where its import or a hook failed. */
  readonly failedTests: readonly string[]
  /** Files that had not begun, or not ended, when the time was up. */
  readonly leftOut: readonly string[]
  /** Why the run failed without a failed test; null when it did not. */
  readonly problem: string | null
}

/** A platform of its own starts within 7 to 40 s, as machines differ, and three files run beside each other. */
const patience = ['--testTimeout=180000', '--hookTimeout=240000']
/** After its time a run has so many seconds to end the tests that it has begun and to stop PostgreSQL. */
const endingSeconds = 420

/** Runs begin at parts of the files that lie far from each other, another one every hour (multiples of the golden ratio). */
const rotationAt = (now: number): string => ((Math.floor(now / 3_600_000) * 0.618) % 1).toFixed(3)

let count = 0

/**
 * Runs test files for a number of seconds; what has not begun by then is left out.
 * @param args   paths and options of vitest
 * @param folder where the result file is written
 * @param env    settings that these tests look for @default none
 */
export async function runTests(
  args: readonly string[],
  { seconds, folder, env: settings = {} }: { seconds: number; folder: string; env?: Readonly<Record<string, string>> | undefined },
): Promise<TestsResult> {
  const path = join(folder, `tests-${count++}.jsonl`)
  const reporters = ['default', './test/kit/run/skipped-reporter.ts', './test/kit/run/progress-reporter.ts'].map(name => `--reporter=${name}`)
  const env = { ...settings, [progressVariable]: path, [secondsVariable]: String(seconds), [rotationVariable]: rotationAt(Date.now()) }
  const { exitCode } = await run(['npm', 'test', '--', ...args, ...patience, ...reporters], { seconds: seconds + endingSeconds, env })
  return resultOf(existsSync(path) ? readFileSync(path, 'utf8') : '', exitCode)
}

type Line = Partial<PlannedFiles & FileResult & RunResult>

/** Reads the lines that the progress reporter wrote. A last line that was cut off is left out. */
export function resultOf(text: string, exitCode: number | null): TestsResult {
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Line)
  const planned = lines[0]?.files ?? []
  const ended = lines.filter((line): line is FileResult => line.file !== undefined)
  const isEnded = new Set(ended.map(({ file }) => file))
  const leftOut = planned.filter(file => !isEnded.has(file))
  const failed = ended.filter(({ isFailed }) => isFailed)
  const failedTests = failed.flatMap(({ file, failed }) => (failed.length > 0 ? failed.map(test => `${file} > ${test}`) : [file]))
  const end = lines.at(-1)
  return {
    passed: sum(ended, ({ passed }) => passed),
    skipped: sum(ended, ({ skipped }) => skipped),
    failedFiles: failed.map(({ file }) => file),
    failedTests,
    leftOut,
    problem: problemOf(),
  }

  function problemOf(): string | null {
    if (planned.length === 0) return `no test began (exit ${exitCode})`
    if (end?.unhandledErrors === undefined) return `it came to no end (exit ${exitCode})`
    if (end.unhandledErrors > 0) return `${end.unhandledErrors} errors outside every test`
    // Vitest exits with 1 for a failed test and when it was cancelled.
    return exitCode === 0 || failed.length > 0 || end.isCancelled ? null : `exit ${exitCode}`
  }
}

const sum = <Item>(items: readonly Item[], count: (item: Item) => number): number => items.reduce((total, item) => total + count(item), 0)
