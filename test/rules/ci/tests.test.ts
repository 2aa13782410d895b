import { describe, expect, it } from 'vitest'
import { resultOf } from '../../../scripts/ci/tests.ts'

const lines = (...values: object[]) => values.map(value => `${JSON.stringify(value)}\n`).join('')
const file = (name: string, more: object = {}) => ({ file: name, isFailed: false, passed: 2, failed: [], skipped: 0, seconds: 1, ...more })
const end = { unhandledErrors: 0, isCancelled: false }
const planned = { files: ['a.test.ts', 'b.test.ts', 'c.test.ts'] }

describe('resultOf', () => {
  it('adds up the results of each file', () => {
    const text = lines(planned, file('a.test.ts'), file('b.test.ts', { skipped: 3 }), file('c.test.ts'), end)
    expect(resultOf(text, 0)).toEqual({ passed: 6, skipped: 3, failedFiles: [], failedTests: [], leftOut: [], problem: null })
  })

  it('names failed tests, and files that could not be imported', () => {
    const broken = file('b.test.ts', { isFailed: true, passed: 0 })
    const text = lines(planned, file('a.test.ts', { isFailed: true, failed: ['x > y'] }), broken, file('c.test.ts'), end)
    const { failedFiles, failedTests, problem } = resultOf(text, 1)
    expect(failedFiles).toEqual(['a.test.ts', 'b.test.ts'])
    expect(failedTests).toEqual(['a.test.ts > x > y', 'b.test.ts'])
    expect(problem).toBeNull()
  })

  it('names files that did not end before the run was cancelled, and sees no fault in that', () => {
    const { leftOut, problem } = resultOf(lines(planned, file('a.test.ts'), { ...end, isCancelled: true }), 1)
    expect(leftOut).toEqual(['b.test.ts', 'c.test.ts'])
    expect(problem).toBeNull()
  })

  it.each([
    ['no test began', '', 1],
    ['an error happened outside every test', lines(planned, file('a.test.ts'), { ...end, unhandledErrors: 1 }), 1],
    ['the run was killed, its last line cut off', `${lines(planned, file('a.test.ts'))}{"file":"b`, null],
    ['it ended badly with every file passed', lines({ files: ['a.test.ts'] }, file('a.test.ts'), end), 1],
    ['it ended badly, and a file that leaves out all of its tests passed', lines({ files: ['a.test.ts'] }, file('a.test.ts', { passed: 0 }), end), 1],
  ])('reports a problem when %s', (_case, text, exitCode) => {
    expect(resultOf(text, exitCode).problem).toEqual(expect.any(String))
  })
})
