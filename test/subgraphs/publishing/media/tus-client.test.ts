import { createHash } from 'node:crypto'
import { DetailedError, Upload } from 'tus-js-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRouter } from '../../../../router/router.ts'
import { freePort } from '../../../kit/launch.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { type TcpProxy, tcpProxy } from '../../../kit/tcp-proxy.ts'
import { seedBrand } from '../brand/seed.ts'
import { mp4 } from './files.ts'

/** Uploads as the protocol's own client makes them, by a network that can be cut. */

const stack = new AsyncDisposableStack()
let graph: Supergraph
let network: TcpProxy
let publicUrl: string
let brandId: string
let headers: Record<string, string>
beforeAll(async () => {
  const port = await freePort()
  network = stack.use(await tcpProxy(`http://127.0.0.1:${port}`))
  publicUrl = new URL(network.url).origin
  graph = stack.use(await supergraph({ publicUrl }))
  const { engine, identity, subgraphs } = graph.platform
  const door = { host: '127.0.0.1', port, publicUrl, environment: 'development' as const, readiness: [] }
  const router = await createRouter({ ...door, engine, authority: identity.authority, subgraphs, clock: graph.clock, log: graph.job.log })
  stack.defer(() => router.close())
  await router.listen()
  const password = 'correct horse battery'
  const provisioned = await identity.provision({
    password,
    people: [{ email: 'owner@test.test', name: 'Owner' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [{ organization: 'acme', name: 'uploader', scopes: ['publishing:posts.write', 'publishing:posts.read'], createdBy: 'owner@test.test' }],
  })
  headers = { 'x-api-key': provisioned.keys.uploader!.secret! }
  brandId = (await seedBrand(graph, { organizationId: provisioned.organizations.acme! })).id
})
afterAll(() => stack.disposeAsync())

/** Has a file uploaded to its end. @returns what the last answer named, and the upload */
function send(bytes: Buffer, options: ConstructorParameters<typeof Upload>[1] = {}): Promise<{ asset: string; url: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ asset: string; url: string }>()
  const upload: Upload = new Upload(bytes, {
    endpoint: `${publicUrl}/publishing/api/media/uploads`,
    headers,
    metadata: { brandId, filename: 'clip.mp4', altText: 'Söhne am See' },
    retryDelays: null,
    onError: reject,
    onSuccess: ({ lastResponse }) => resolve({ asset: lastResponse.getHeader('X-Media-Asset-Id')!, url: upload.url! }),
    ...options,
  })
  upload.start()
  return promise
}

/** Begins an upload and stops it after its first part, for good or to go on later. @returns its address */
function stopped(bytes: Buffer, forGood = false): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const upload: Upload = new Upload(bytes, {
    endpoint: `${publicUrl}/publishing/api/media/uploads`,
    headers,
    metadata: { brandId, filename: 'clip.mp4' },
    chunkSize: 100_000,
    onError: reject,
    onChunkComplete: () => void upload.abort(forGood).then(() => resolve(upload.url ?? ''), reject),
  })
  upload.start()
  return promise
}

const assetOf = (id: string) =>
  graph
    .rows<{ bytes: number; altText: string; parts: number }>(
      'select bytes, alt_text as "altText", jsonb_array_length(parts) as parts from publishing.media_assets where id = $1',
      [id],
    )
    .then(([row]) => row!)
const statusOf = (error: unknown) => (error instanceof DetailedError ? error.originalResponse?.getStatus() : error)

test('accepts a video in one piece, and with its first part in the creation request', async () => {
  const bytes = mp4({ padding: 100_000 })
  for (const uploadDataDuringCreation of [false, true]) {
    const { asset } = await send(bytes, { uploadDataDuringCreation })
    expect(await assetOf(asset)).toMatchObject({ bytes: bytes.length, altText: 'Söhne am See' })
  }
})

test('continues an upload whose connection was cut, with the same video as result', async () => {
  const bytes = mp4({ padding: 500_000 })
  const came: number[] = []
  let cuts = 0
  const { asset } = await send(bytes, {
    chunkSize: 100_000,
    retryDelays: [10, 10],
    onChunkComplete(_, all) {
      came.push(all)
      if (came.length !== 2) return
      network.refuse(true)
      network.cut()
    },
    onShouldRetry() {
      cuts += 1
      network.refuse(false)
      return true
    },
  })
  expect([cuts, came]).toEqual([1, [100_000, 200_000, 300_000, 400_000, 500_000, bytes.length]])
  const shaOf = async () => {
    await graph.clock.run(1_000)
    return (await graph.rows<{ sha256: string | null }>('select sha256 from publishing.media_assets where id = $1', [asset]))[0]!.sha256
  }
  await expect.poll(shaOf, { timeout: 5_000 }).toBe(createHash('sha256').update(bytes).digest('hex'))
  const { storage } = graph.job
  expect(await storage.stat(`media/${asset}/original`)).toEqual({ bytes: bytes.length })
})

test('resumes a stopped upload by its address; after a day the client starts anew', async () => {
  const bytes = mp4({ padding: 300_000 })
  const first = await stopped(bytes)
  const went = await send(bytes, { uploadUrl: first })
  expect([went.url, (await assetOf(went.asset)).parts]).toEqual([first, 2])
  const second = await stopped(bytes)
  await graph.clock.advance(24 * 3_600_000 + 1)
  const anew = await send(bytes, { uploadUrl: second })
  expect(anew.url).not.toBe(second)
  expect(await assetOf(anew.asset)).toMatchObject({ bytes: bytes.length })
})

test('rejects a file that is no video, with a wrong checksum, or without rights by the protocol’s own statuses', async () => {
  const page = Buffer.from('<!doctype html>'.padEnd(5_000))
  expect(await send(page).catch(statusOf)).toBe(400)
  const bytes = mp4()
  const summed = (of: Buffer) => ({
    onBeforeRequest: (request: { getMethod(): string; setHeader(name: string, value: string): void }) => {
      if (request.getMethod() === 'PATCH') request.setHeader('Upload-Checksum', `sha256 ${createHash('sha256').update(of).digest('base64')}`)
    },
  })
  expect(await send(bytes, summed(page)).catch(statusOf)).toBe(460)
  expect((await send(bytes, summed(bytes))).asset).toEqual(expect.any(String))
  expect(await send(bytes, { headers: {} }).catch(statusOf)).toBe(401)
  expect(await send(bytes, { metadata: { filename: 'a.mp4' } }).catch(statusOf)).toBeGreaterThanOrEqual(400)
})

test('a terminated upload is gone', async () => {
  await stopped(mp4({ padding: 200_000 }), true)
  const open = 'select id from publishing.media_uploads where asset_id is null and received > 0 and expires_at > $1'
  expect(await graph.rows(open, [graph.clock.now()])).toEqual([])
})
