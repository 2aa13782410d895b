import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFileStorage } from '../../../platform/storage/file.ts'
import { createStorageHealth } from '../../../platform/storage/health.ts'
import type { Storage } from '../../../platform/storage/storage.ts'

const silent = { put: () => new Promise<never>(() => {}) } as unknown as Storage

describe('health of the storage', () => {
  it('leaves nothing behind in a folder that can be written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'storage-'))
    const health = createStorageHealth(createFileStorage(folder)('health'), 'the folder')
    await health.write()
    expect(await health.check()).toBeUndefined()
    expect((await readdir(folder, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())).toEqual([])
    await rm(folder, { recursive: true })
  })

  it('explains why a folder cannot be written, and checks again after half a minute', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'storage-'))
    const blocked = join(folder, 'blocked')
    await writeFile(blocked, 'a file where the folder should be')
    let now = 0
    const health = createStorageHealth(createFileStorage(blocked)('health'), 'the folder', () => now)
    await expect(health.write()).rejects.toThrow()
    expect(await health.check()).toMatch(/^the folder cannot be written \((EEXIST|ENOTDIR)\): uploads fail until it can$/)
    await rm(blocked)
    expect(await health.check()).toContain('cannot be written')
    now = 30_000
    expect(await health.check()).toBeUndefined()
    await rm(folder, { recursive: true })
  })

  it('reports within two seconds that a bucket does not answer', async () => {
    const began = performance.now()
    expect(await createStorageHealth(silent, 'the bucket').check()).toBe('the bucket cannot be written (no answer within 1.5 s): uploads fail until it can')
    expect(performance.now() - began).toBeLessThan(2_000)
  })
})
