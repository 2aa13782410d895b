import { appendFileSync } from 'node:fs'
import type { TestModule, TestSpecification, Vitest } from 'vitest/node'

/** Path of the file that results are appended to. */
export const progressVariable = 'TEST_PROGRESS'

/** Seconds after which no further test begins. */
export const secondsVariable = 'TEST_SECONDS'

/** First line of the file: every test file of the run, by its path in the repository. */
export interface PlannedFiles {
  readonly files: readonly string[]
}

/** A line of the file for each test file that has ended. */
export interface FileResult {
  readonly file: string
  /** Set when a test, a hook or the import of the file failed. */
  readonly isFailed: boolean
  readonly passed: number
  /** Full names of the tests that failed. */
  readonly failed: readonly string[]
  readonly skipped: number
  readonly seconds: number
}

/** Last line of the file. */
export interface RunResult {
  /** Errors outside every test. */
  readonly unhandledErrors: number
  /** Whether its time was up before every test had begun. */
  readonly isCancelled: boolean
}

/**
 * Appends one line of JSON a test file to the file named by TEST_PROGRESS, so that results outlive a run that is ended early. After
 * TEST_SECONDS it cancels the run: tests that run end, and no further one begins.
 */
export default class ProgressReporter {
  #path = process.env[progressVariable]
  #vitest: Vitest | undefined
  #timer: NodeJS.Timeout | undefined
  #isCancelled = false

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#append({ files: specifications.map(({ testModule, moduleId }) => testModule?.relativeModuleId ?? this.#relative(moduleId)) })
    const seconds = Number(process.env[secondsVariable])
    if (seconds > 0) this.#timer = setTimeout(() => this.#cancel(), seconds * 1000)
  }

  onTestModuleEnd(module: TestModule): void {
    const tests = [...module.children.allTests()]
    const inState = (state: string) => tests.filter(test => test.result().state === state)
    this.#append({
      file: module.relativeModuleId,
      isFailed: module.state() === 'failed',
      passed: inState('passed').length,
      failed: inState('failed').map(({ fullName }) => fullName),
      skipped: tests.length - inState('passed').length - inState('failed').length,
      seconds: Math.round(module.diagnostic().duration / 1000),
    })
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    clearTimeout(this.#timer)
    this.#append({ unhandledErrors: unhandled.length, isCancelled: this.#isCancelled })
  }

  #cancel(): void {
    this.#isCancelled = true
    void this.#vitest?.cancelCurrentRun('test-failure')
  }

  #relative(path: string): string {
    const root = `${this.#vitest?.config.root}/`
    return path.startsWith(root) ? path.slice(root.length) : path
  }

  #append(line: PlannedFiles | FileResult | RunResult): void {
    if (this.#path) appendFileSync(this.#path, `${JSON.stringify(line)}\n`)
  }
}
