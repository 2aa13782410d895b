import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLines } from '../../router/start/process/lines.ts'
import { compose } from '../engine/supergraph-fixture.ts'
import { freePort, newDataFolder, until } from '../kit/launch.ts'

/** A stream whose reader takes nothing before he begins to read. */
function slowReader() {
  const begun = Promise.withResolvers<void>()
  const read: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _, done) {
      void begun.promise.then(() => {
        read.push(text)
        done()
      })
    },
  })
  return { stream, read, begin: begun.resolve }
}

test('buffers unread lines up to a limit, then drops and counts them until they are read again', async () => {
  const { stream, read, begin } = slowReader()
  const lines = createLines(stream, 1000)
  for (let n = 0; n < 300; n++) lines.write(`line ${String(n).padStart(4, '0')}\n`)
  expect(stream.writableLength).toBe(1000)
  begin()
  await until('all is read', () => stream.writableLength === 0)
  lines.write('again\n')
  lines.write('and again\n')
  await until('all is read', () => stream.writableLength === 0)
  expect(read.slice(0, 100).at(-1)).toBe('line 0099\n')
  expect(read.slice(100).map(text => (text.startsWith('{') ? JSON.parse(text).leftOut : text))).toEqual([200, 'again\n', 'and again\n'])
})

test('waits a limited time until the last lines are read', async () => {
  const { stream, read, begin } = slowReader()
  const lines = createLines(stream)
  await lines.written(3_600_000)
  lines.write('stopped\n')
  await lines.written(1)
  expect(read).toEqual([])
  const written = lines.written(3_600_000)
  begin()
  await written
  expect(read).toContain('stopped\n')
})

/** A router whose output goes somewhere, and many requests that are logged. */
async function logged(output: 'pipe' | number) {
  const folder = newDataFolder()
  const file = join(folder.path, 'supergraph.graphql')
  writeFileSync(file, compose({ lone: { sdl: 'type Query { hello: String }' } }))
  const port = String(await freePort())
  const url = `http://localhost:${port}`
  const { PATH = '', HOME = '/tmp' } = process.env
  const router = spawn(process.execPath, ['router/main.ts', 'router', '--supergraph', file, '--port', port], {
    env: { PATH, HOME, LOG_LEVEL: 'info', npm_lifecycle_event: 'start' },
    stdio: ['ignore', output, 'ignore'],
  })
  const ended = once(router, 'exit')
  // Also if it never answers, and the test ends before anybody receives it.
  process.once('exit', () => router.kill('SIGKILL'))
  const ask = () => fetch(`${url}/graphql?query={__typename}`, { headers: { 'content-type': 'application/json' } }).then(async answer => answer.status)
  await until('it answers', () => ask().catch(() => null))
  const seen = new Set<number>()
  for (let round = 0; round < 40; round++) for (const status of await Promise.all(Array.from({ length: 50 }, ask))) seen.add(status)
  return {
    router,
    ended,
    statuses: [...seen],
    async [Symbol.asyncDispose]() {
      router.kill('SIGKILL')
      await ended
      await folder[Symbol.asyncDispose]()
    },
  }
}

test('a process with unread output answers, and ends on TERM', async () => {
  await using served = await logged('pipe')
  expect(served.statuses).toEqual([200])
  served.router.kill('SIGTERM')
  await until('it is gone', () => served.router.exitCode !== null || served.router.signalCode !== null)
  expect(served.router.exitCode).toBe(0)
}, 60_000)

test.runIf(process.platform === 'linux')(
  'so does one that writes its log to a disk that is full',
  async () => {
    const full = openSync('/dev/full', 'w')
    try {
      await using served = await logged(full)
      expect(served.statuses).toEqual([200])
      served.router.kill('SIGTERM')
      await until('it is gone', () => served.router.exitCode !== null || served.router.signalCode !== null)
      expect(served.router.exitCode).toBe(0)
    } finally {
      closeSync(full)
    }
  },
  60_000,
)
