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

test('at a disarmed crash point the process continues', () => {
  const sent = signals()
  crash('after-send')
  expect(sent).toEqual([])
})

test('at the armed point, and at no other, the process is killed without running a handler', () => {
  const sent = signals()
  armCrash('after-send')
  crash('before-send')
  expect(sent).toEqual([])
  crash('after-send')
  expect(sent).toEqual([[process.pid, 'SIGKILL']])
})

test('one point is armed at a time, and can be disarmed', () => {
  const sent = signals()
  armCrash('after-send')
  armCrash('before-send')
  crash('after-send')
  armCrash(null)
  crash('before-send')
  expect(sent).toEqual([])
})
