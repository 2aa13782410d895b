import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { AwsV4Signer } from 'aws4fetch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newFolder, open } from './stage.ts'

/** A module that is an S3 server, `@20minutes/s3rver` of npm: `.ci/run` installs it. */
const server = process.env.S3RVER
const [one, two] = ['type Query { one: Int }', 'type Query { two: Int }']

test('a bucket without credentials is no source', () => {
  expect(() => open('s3://graphs/shop.graphql')).toThrow('S3_ACCESS_KEY_ID: missing: s3://graphs/shop.graphql needs it, with S3_SECRET_ACCESS_KEY')
})

describe.skipIf(!server)('a supergraph in a bucket (skipped where S3RVER names no server)', () => {
  async function bucket() {
    const directory = newFolder()
    const S3 = createRequire(server!)(server!) as new (options: object) => { run(): Promise<{ port: number }>; close(): Promise<void> }
    const running = new S3({ directory, address: '127.0.0.1', port: 0, silent: true, configureBuckets: [{ name: 'graphs' }] })
    const { port } = await running.run()
    onTestFinished(async () => {
      await running.close()
      await rm(directory, { recursive: true, force: true })
    })
    const s3 = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', pathStyle: true }
    return {
      s3,
      async put(key: string, body: string) {
        const signed = await new AwsV4Signer({ ...s3, method: 'PUT', url: `${s3.endpoint}/graphs/${key}`, body, service: 's3' }).sign()
        const { status } = await fetch(signed.url, { method: 'PUT', headers: signed.headers, body })
        expect(status).toBe(200)
      },
    }
  }

  test('is read by a signed request, asked for by its ETag, and taken when it changes', async () => {
    const { s3, put } = await bucket()
    await put('prod/shop%20one.graphql', one)
    const { source, follow, changes, polls } = open('s3://graphs/prod/shop one.graphql', { s3 })
    expect(await source.read()).toBe(one)
    source.keep(one)
    expect(source.kept()!.tag).toMatch(/^"[\da-f]{32}"$/)
    follow()
    await expect.poll(async () => (await polls()).unchanged).toBeGreaterThan(1)
    await put('prod/shop%20one.graphql', two)
    await expect.poll(() => changes).toEqual([two])
  })

  test.for([
    ['an object that is not there', 's3://graphs/none.graphql', {}, 'answered 404, NoSuchKey'],
    ['another secret', 's3://graphs/shop.graphql', { secretAccessKey: 'wrong' }, 'answered 403, SignatureDoesNotMatch'],
  ] as const)('%s is one line', async ([, named, settings, sentence]) => {
    const { s3 } = await bucket()
    await expect(open(named, { s3: { ...s3, ...settings } }).source.read()).rejects.toThrow(
      `${named} cannot be read (${named} cannot be read: the bucket ${sentence}), and no`,
    )
  })
})
