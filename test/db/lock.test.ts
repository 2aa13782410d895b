import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type FolderLock, lockFolder } from '../../db/lock.ts'
import { identify, isAlive } from '../../db/process-table.ts'
import { StartError } from '../../start-error.ts'
import { until } from './platform.ts'

const root = mkdtempSync(join(tmpdir(), 'lock-test-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const newFolder = () => mkdtempSync(join(root, 'data-'))

test('a lock excludes a second one until it is released', async () => {
  const folder = newFolder()
  const lock = await lockFolder(folder)
  expect(lock.recovered).toBe(false)
  await expect(lockFolder(folder)).rejects.toThrow(
    new StartError(`data folder ${folder} is in use by process ${process.pid}: stop it, or set DATA_DIR to another folder`),
  )
  lock.release()
  lock.release()
  expect(readdirSync(folder)).toEqual([])
  ;(await lockFolder(folder)).release()
})

test('a lock whose pid now belongs to a process that started later is taken over, and reported', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }))
  const lock = await lockFolder(folder)
  expect(lock.recovered).toBe(true)
  lock.release()
})

test('a lock file that was not written completely is taken over', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'lock'), '')
  const lock = await lockFolder(folder)
  expect(lock.recovered).toBe(true)
  lock.release()
})

test('a zombie holds nothing', async ({ skip }) => {
  if (process.platform !== 'linux') skip('zombies are made with the shell of Linux')
  // The parent becomes a program that never asks for its child's exit code.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const [line] = await once(parent.stdout, 'data')
    const holder = identify(Number(line))!
    expect(isAlive(holder)).toBe(true)
    const folder = newFolder()
    writeFileSync(join(folder, 'lock'), JSON.stringify(holder))
    await expect(lockFolder(folder)).rejects.toThrow(`in use by process ${holder.pid}`)
    await until(() => !isAlive(holder))
    expect(process.kill(holder.pid, 0)).toBe(true)
    const lock = await lockFolder(folder)
    expect(lock.recovered).toBe(true)
    lock.release()
  } finally {
    parent.kill('SIGKILL')
  }
})

test('of many starts that find a dead lock at once, exactly one gets the folder', async () => {
  for (let round = 0; round < 20; round++) {
    const folder = newFolder()
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: 2 ** 22 + 1, startedAt: 'long ago' }))
    const begun: Promise<FolderLock>[] = []
    for (let start = 0; start < 8; start++) {
      begun.push(lockFolder(folder))
      // Shifted against each other by a few turns of the promise queue, so that they meet at different steps.
      for (let turn = 0; turn < round % 5; turn++) await null
    }
    const starts = await Promise.allSettled(begun)
    const winners = starts.filter(start => start.status === 'fulfilled')
    expect(winners).toHaveLength(1)
    winners[0]!.value.release()
    expect(readdirSync(folder)).toEqual([])
  }
})

test('an unusable folder is reported in one line', async ({ skip }) => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  await expect(lockFolder(file)).rejects.toThrow(
    new StartError(`data folder ${file} cannot be used (it is a file): set DATA_DIR to a folder that can be written`),
  )
  await expect(lockFolder(join(file, 'below'))).rejects.toThrow(/a part of the path is a file/)
  if (process.getuid?.() === 0) skip('root may write everywhere: permissions are tried by an ordinary user only')
  const closed = newFolder()
  chmodSync(closed, 0o500)
  await expect(lockFolder(closed)).rejects.toThrow(/permission denied/)
})
