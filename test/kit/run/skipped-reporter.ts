import type { TestCase } from 'vitest/node'

/** Prints, beside another reporter, each test that was left out and why: vitest keeps the reason to itself. */
export default class SkippedReporter {
  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'skipped' && result.note) console.log(`left out: ${test.module.relativeModuleId} > ${test.fullName}: ${result.note}`)
  }
}
