import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launch } from '../kit/launch.ts'

/** Keeps a process running, kills it when no file is left to start it again with, and lets go of the files once that was noticed. */
const program = (start: string) => `
  import cluster from 'node:cluster'
  import { openSync, closeSync } from 'node:fs'
  import { keep, keepRunning } from ${JSON.stringify(join(import.meta.dirname, '../../router/start/apart/keep.ts'))}
  import { forkWorker } from ${JSON.stringify(join(import.meta.dirname, '../../router/start/apart/handed.ts'))}
  const files = []
  let ends = 0
  const onlooker = {
    line() {},
    ended(_, by) {
      console.log(by)
      if (++ends === 2) for (const file of files.splice(0)) closeSync(file)
    },
    async back() {
      console.log('back')
      await kept.stop(1000)
      process.exit()
    },
  }
  const fill = () => {
    try {
      for (;;) files.push(openSync('/dev/null'))
    } catch {}
  }
  const words = ['-e', 'setInterval(() => {}, 1000)']
  const kept = ${start}
  await kept.ready
  console.log('ready')
  fill()
  process.kill(kept.pid, 'SIGKILL')
`

test.runIf(process.platform === 'linux').each([
  ['by a command', `keep({ name: 'one', command: process.execPath, parameters: words, environment: {} }, onlooker)`],
  [
    'as a worker',
    `(cluster.setupPrimary({ exec: '/dev/null', execArgv: words }), keepRunning({ name: 'one' }, onlooker, () => {
      // The dead process's resources are free for the next.
      if (ends === 1) fill()
      return forkWorker({})
    }))`,
  ],
])(
  'a process that is started %s, and cannot be for a while, is started again when it can',
  async (_, start) => {
    const keeper = launch('sh', ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, '--input-type=module-typescript', '-e', program(start)])
    expect([await keeper.ended, keeper.complained()]).toEqual([0, ''])
    expect(keeper.said()).toMatch(/^ready\nSIGKILL\n[^\n]*EMFILE[^\n]*\n(?:[^\n]*EMFILE[^\n]*\n)*back\n$/)
  },
  30_000,
)
