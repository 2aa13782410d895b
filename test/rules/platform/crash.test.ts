import { expect, onTestFinished, test, vi } from 'vitest'
import { armCrash, crash } from '../../../platform/crash.ts'

/** Holds the signal back, which would end the tests, and tells which were sent to whom. */
function signals() {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  onTestFinished(() => {
    armCrash(null)
    kill.mockRestore()
  })
  return kill.mock.calls
}

test('at a crash point that nobody armed the process goes on', () => {
  const sent = signals()
  crash('after-send')
  expect(sent).toEqual([])
})

test('at the armed point, and at no other, the process is killed so that no handler of it can run', () => {
  const sent = signals()
  armCrash('after-send')
  crash('before-send')
  expect(sent).toEqual([])
  crash('after-send')
  expect(sent).toEqual([[process.pid, 'SIGKILL']])
})

test('one point is armed at a time, and may be disarmed', () => {
  const sent = signals()
  armCrash('after-send')
  armCrash('before-send')
  crash('after-send')
  armCrash(null)
  crash('before-send')
  expect(sent).toEqual([])
})
