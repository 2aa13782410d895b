import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** At which part of the files a run begins, from 0 to 1. */
export const rotationVariable = 'TEST_ROTATION'

/**
 * Orders files as vitest does, beginning at another part of them where TEST_ROTATION says so: a run that has no time for all files then
 * leaves out others than the run before.
 */
export default class RotatingSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const from = Math.floor(sorted.length * (Number(process.env[rotationVariable] ?? 0) % 1)) || 0
    return [...sorted.slice(from), ...sorted.slice(0, from)]
  }
}
