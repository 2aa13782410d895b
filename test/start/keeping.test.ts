import { expect, onTestFinished, test } from 'vitest'
import { keep, type Part } from '../../router/start/apart/keep.ts'
import { until } from '../kit/launch.ts'

/** Keeps a program of Node's, and notes what is heard of it. */
function kept(program: string, more: Partial<Part> = {}) {
  const heard: string[] = []
  const part = { name: 'one', command: process.execPath, parameters: ['-e', program], environment: {}, ...more }
  const one = keep(part, {
    line: (_, text) => heard.push(`line ${text}`),
    ended: (_, by) => heard.push(`ended ${by}`),
    back: () => heard.push('back'),
  })
  onTestFinished(() => one.stop(0))
  return { ...one, pid: () => one.pid, heard }
}

test('a process that ignores TERM is killed, and not started again', async () => {
  const one = kept(`process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000); console.log('here')`, { ready: /^here$/ })
  await one.ready
  const [first, second] = [one.stop(200), one.stop(60_000)]
  await Promise.all([first, second])
  expect(one.pid()).toBeNull()
  // It was asked once, and its answer was passed on.
  expect(one.heard.filter(each => each !== 'line no')).toEqual([])
})

test('a process that ends before it was ready is not started again, and the reason is reported', async () => {
  const silent = kept('process.exit(3)', { ready: /^here$/ })
  await expect(silent.ready).rejects.toThrow('one did not start (exit code 3)')
  const telling = kept(`process.send({ about: 'mistake', sentence: 'PORT: missing.' }, () => process.exit(1))`, { ready: 'told', heard() {} })
  await expect(telling.ready).rejects.toThrow(/^PORT: missing\.$/)
  expect([silent.heard, telling.heard]).toEqual([[], []])
})

test('a process that ends after it was ready is restarted each time, with a report when it is ready again', async () => {
  const one = kept(`console.log('here'); setInterval(() => {}, 1000)`, { ready: /^here$/ })
  await one.ready
  expect(one.heard).toEqual([])
  for (const times of [1, 2]) {
    process.kill(one.pid()!, 'SIGKILL')
    await until('it is back', () => one.heard.length === 2 * times)
  }
  expect(one.heard).toEqual(['ended SIGKILL', 'back', 'ended SIGKILL', 'back'])
})
