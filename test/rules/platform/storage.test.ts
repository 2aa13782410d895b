import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutbound } from '../../../platform/outbound/outbound.ts'
import { createFileStorage } from '../../../platform/storage/file.ts'
import { addressOfBucket, createS3Storage } from '../../../platform/storage/s3.ts'
import { NotStored, type OpenStorage } from '../../../platform/storage/storage.ts'
import { freePort, until } from '../../kit/launch.ts'

const stack = new AsyncDisposableStack()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
})
afterAll(() => stack.disposeAsync())

const text = async (stream: ReadableStream<Uint8Array>) => new Response(stream).text()
const as = (bytes: number) => ({ contentType: 'text/plain', bytes })

async function* pieces(...given: string[]) {
  for (const piece of given) yield Buffer.from(piece)
}

/** What every storage promises. */
const promises = (open: () => Promise<OpenStorage>) => {
  test('keeps an object whole, in place of what was there, and tells how long it is', async () => {
    const storage = (await open())('one')
    await storage.put('a/b', Buffer.from('first'), as(5))
    await storage.put('a/b', pieces('sec', 'ond'), as(6))
    expect([await text(await storage.get('a/b')), await storage.stat('a/b')]).toEqual(['second', { bytes: 6 }])
    expect(await text(await storage.get('a/b', { first: 1, last: 3 }))).toBe('eco')
  })

  test('has nothing of another prefix, and nothing of what was removed', async () => {
    const opened = await open()
    await opened('one').put('c', Buffer.from('x'), as(1))
    await expect(opened('other').get('c')).rejects.toThrow(NotStored)
    await opened('one').remove('c')
    await opened('one').remove('c')
    expect(await opened('one').stat('c')).toBe(null)
  })

  test('keeps nothing of a body that breaks off, or has another length than was said', async () => {
    const storage = (await open())('one')
    async function* broken() {
      yield Buffer.from('beg')
      throw new Error('the client left')
    }
    await expect(storage.put('d', broken(), as(6))).rejects.toThrow()
    await expect(storage.put('d', pieces('short'), as(6))).rejects.toThrow()
    // Some servers leave an empty one.
    expect([undefined, 0]).toContain((await storage.stat('d'))?.bytes)
  })

  test.each(['../x', 'a/../../x', '/x', 'a//b', '.x', 'a/.', 'A', 'a%2e', 'a\0', ''])('takes no key %j', async key => {
    await expect((await open())('one').put(key, Buffer.from('x'), as(1))).rejects.toThrow('not a key')
  })
}

describe('files', () => {
  promises(async () => createFileStorage(folder))
  test('nothing half written is left', async () => expect(await readdir(join(folder, '.unfinished'))).toEqual([]))
})

/** The command of an S3 server, `s3rver` of npm: `.ci/run` installs it. */
const server = process.env.S3RVER

describe.skipIf(!server)('a bucket (skipped where S3RVER names no server)', () => {
  let storage: OpenStorage
  beforeAll(async () => {
    const port = await freePort()
    const kept = await mkdtemp(join(tmpdir(), 'bucket-'))
    stack.defer(() => rm(kept, { recursive: true, force: true }))
    const child = spawn(process.execPath, [server!, '-d', kept, '-p', String(port), '-s', '--configure-bucket', 'media'], { stdio: 'ignore' })
    stack.defer(() => void child.kill())
    const settings = {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket: 'media',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      pathStyle: true,
    }
    const outbound = createOutbound([addressOfBucket(settings)])
    stack.defer(() => outbound.close())
    await until('the bucket answers', () =>
      fetch(settings.endpoint).then(
        () => true,
        () => false,
      ),
    )
    storage = createS3Storage(settings, outbound.stream)
  })
  promises(async () => storage)
})
