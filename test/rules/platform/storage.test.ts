import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutbound } from '../../../platform/outbound/outbound.ts'
import type { StreamOptions } from '../../../platform/outbound/stream.ts'
import { tellingAway } from '../../../platform/storage/away.ts'
import { createFileStorage } from '../../../platform/storage/file.ts'
import { addressOfBucket, createS3Storage, type S3Settings } from '../../../platform/storage/s3.ts'
import { NotStored, type OpenStorage, type Storage } from '../../../platform/storage/storage.ts'
import { freePort } from '../../kit/launch.ts'
import { tcpProxy } from '../../kit/tcp-proxy.ts'

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
  test('stores an object completely, replacing a former one, and returns its size', async () => {
    const storage = (await open())('one')
    await storage.put('a/b', Buffer.from('first'), as(5))
    await storage.put('a/b', pieces('sec', 'ond'), as(6))
    expect([await text(await storage.get('a/b')), await storage.stat('a/b')]).toEqual(['second', { bytes: 6 }])
    expect(await text(await storage.get('a/b', { first: 1, last: 3 }))).toBe('eco')
  })

  test('sees nothing of another prefix, and nothing that was removed', async () => {
    const opened = await open()
    await opened('one').put('c', Buffer.from('x'), as(1))
    await expect(opened('other').get('c')).rejects.toThrow(NotStored)
    await opened('one').remove('c')
    await opened('one').remove('c')
    expect(await opened('one').stat('c')).toBe(null)
  })

  test('stores nothing of a body that breaks off, or has another length than announced', async () => {
    const storage = (await open())('one')
    async function* broken() {
      yield Buffer.from('beg')
      throw new Error('the client left')
    }
    await expect(storage.put('d', broken(), as(6))).rejects.toThrow()
    await expect(storage.put('d', pieces('short'), as(6))).rejects.toThrow()
    // Some servers leave an empty folder.
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

test('a failing storage is reported as unavailable, without its location; a missing object stays missing', async () => {
  const log: object[] = []
  const taken = join(folder, 'taken')
  await writeFile(taken, 'a file where a folder should be')
  const broken = tellingAway(createFileStorage(taken), { error: (line: object) => void log.push(line) })('one')
  const refused = await broken.put('a', Buffer.from('x'), as(1)).catch(error => error)
  expect(refused).toMatchObject({ extensions: { code: 'UPSTREAM_FAILED', retryAfter: 5 }, message: expect.not.stringContaining(folder) })
  expect(log).toMatchObject([{ key: 'one/a', err: { code: expect.stringMatching(/ENOTDIR|EEXIST/) } }])
  const whole = tellingAway(createFileStorage(folder), { error: (line: object) => void log.push(line) })('one')
  await whole.put('told', Buffer.from('x'), as(1))
  expect([await whole.stat('told'), await text(await whole.get('told'))]).toEqual([{ bytes: 1 }, 'x'])
  await expect(whole.get('nothing')).rejects.toThrow(NotStored)
  expect(log).toHaveLength(1)
})

/** A module that is an S3 server, `@20minutes/s3rver` of npm: `.ci/run` installs it. */
const server = process.env.S3RVER

describe.skipIf(!server)('a bucket (skipped where S3RVER names no server)', () => {
  let settings: S3Settings
  let storage: OpenStorage
  /** Opens a bucket in another way than the one that works. */
  const opened = (changed: Partial<S3Settings>, times: StreamOptions = {}): Storage => {
    const all = { ...settings, ...changed }
    const outbound = createOutbound([addressOfBucket(all)])
    stack.defer(() => outbound.close())
    return createS3Storage(all, (url, options) => outbound.stream(url, { ...options, ...times }))('one')
  }
  beforeAll(async () => {
    const kept = await mkdtemp(join(tmpdir(), 'bucket-'))
    stack.defer(() => rm(kept, { recursive: true, force: true }))
    const S3 = createRequire(server!)(server!) as new (options: object) => { run(): Promise<{ port: number }>; close(): Promise<void> }
    const running = new S3({ directory: kept, address: '127.0.0.1', port: 0, silent: true, configureBuckets: [{ name: 'media' }] })
    const { port } = await running.run()
    stack.defer(() => running.close())
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
    settings = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', bucket: 'media', ...credentials, pathStyle: true }
    const outbound = createOutbound([addressOfBucket(settings)])
    stack.defer(() => outbound.close())
    storage = createS3Storage(settings, outbound.stream)
  })
  promises(async () => storage)

  test.each([
    'a.b-c_d/0',
    'media/018f0000-0000-7000-8000-000000000000/linkedin-page',
    `${'long'.repeat(30)}/${'x'.repeat(120)}/${'9'.repeat(120)}`,
    '_/__/0',
  ])('signs the key %s as the server reads it', async key => {
    const one = storage('one')
    await one.put(key, Buffer.from('odd'), as(3))
    expect([await text(await one.get(key, { first: 0, last: 1 })), await one.stat(key)]).toEqual(['od', { bytes: 3 }])
    await one.remove(key)
    await expect(one.get(key)).rejects.toThrow(NotStored)
  })

  test('streams both ways: a piece waits only for the next', async () => {
    const one = storage('one')
    const piece = Buffer.alloc(64 * 1024, 'a')
    let made = 0
    async function* many() {
      for (; made < 400; made += 1) yield piece
    }
    const bytes = 400 * piece.length
    await one.put('large', many(), { contentType: 'video/mp4', bytes })
    expect([made, await one.stat('large')]).toEqual([400, { bytes }])
    const reader = (await one.get('large')).getReader()
    const { value } = await reader.read()
    expect(value!.byteLength).toBeLessThan(bytes / 10)
    await reader.cancel()
    let read = 0
    for await (const part of await one.get('large', { first: 1, last: bytes - 1 })) read += part.byteLength
    expect(read).toBe(bytes - 1)
  })

  test('that is missing, or denies access, is a failure and not a missing object', async () => {
    const lost = opened({ bucket: 'no-such' })
    const wrong = opened({ secretAccessKey: 'another/secret+with=signs' })
    const stranger = opened({ accessKeyId: 'NOBODY' })
    for (const [refused, code] of [
      [lost, /404, NoSuchBucket/],
      [wrong, /403, SignatureDoesNotMatch/],
      [stranger, /403, InvalidAccessKeyId/],
    ] as const) {
      for (const ask of [() => refused.put('a', Buffer.from('x'), as(1)), () => refused.get('a'), () => refused.remove('a')])
        await expect(ask()).rejects.toMatchObject({ name: 'Error', message: expect.stringMatching(code) })
      await expect(refused.stat('a')).rejects.toMatchObject({ name: 'Error', message: expect.not.stringContaining('secret+') })
    }
  })

  test('that cannot be reached, or falls silent, ends the call', async () => {
    const nobody = opened({ endpoint: `http://127.0.0.1:${await freePort()}` })
    await expect(nobody.get('a')).rejects.toThrow('could not be asked')
    await using network = await tcpProxy(settings.endpoint)
    const slow = opened({ endpoint: new URL(network.url).origin }, { firstByteMs: 200 })
    await slow.put('slow', Buffer.from('x'), as(1))
    network.silence()
    network.silenceNew(true)
    for (const ask of [() => slow.put('slow', Buffer.from('y'), as(1)), () => slow.get('slow'), () => slow.stat('slow')])
      await expect(ask()).rejects.toThrow('no answer within 200 ms')
    // The former content stays: a write is atomic.
    expect(await text(await storage('one').get('slow'))).toBe('x')
  })
})
