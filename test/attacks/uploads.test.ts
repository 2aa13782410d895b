import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { png, wideWebp } from '../subgraphs/publishing/media/files.ts'
import { attackMs, isWanted, type Polite, peaceMs, polite } from './siege.ts'
import { type Neighbour, startWorld, type World } from './target.ts'

/** An upload of somebody who means harm, as it was answered. */
type Sent = (at: number) => Promise<number>

describe.skipIf(!isWanted)('hostile uploads of one organization', () => {
  let world: World
  let evil: Neighbour
  let client: Polite
  let own: string
  const table: string[] = []
  beforeAll(async () => {
    world = await startWorld({ LOG_LEVEL: 'error' })
    own = await world.key('polite')
    evil = await world.another('Hostile')
    client = await polite({ url: world.url, key: own, query: `{ brand(id: "${world.brandId}") { name } }`, uploads: { brandId: world.brandId } })
    await client.during(2000)
  }, 120_000)
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    console.log(
      ['| attack | answers | uploads before | p99 before | uploads during | p99 during |', '| --- | --- | --- | --- | --- | --- |', ...table].join('\n'),
    )
  })

  const upload = async (brandId: string, bytes: Buffer, key?: string): Promise<number> => {
    const answer = await fetch(`${world.url}/publishing/api/media?brandId=${brandId}&filename=x`, {
      method: 'POST',
      headers: { 'x-api-key': evil.key, 'content-type': 'image/png', ...(key && { 'idempotency-key': key }) },
      body: new Uint8Array(bytes),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const count = async (key: string, brandId: string): Promise<number> => {
    const answer = await fetch(`${world.url}/publishing/api/media?brandId=${brandId}&first=1`, { headers: { 'x-api-key': key } })
    return ((await answer.json()) as { totalCount: number }).totalCount
  }
  /** Sends from so many clients at once until the attack is over. @returns what they were answered, and what the polite client saw */
  const siege = async (name: string, clients: number, send: Sent) => {
    const peace = await client.during(peaceMs)
    const statuses = new Map<number, number>()
    const overAt = performance.now() + attackMs
    let at = 0
    const going = Promise.all(
      Array.from({ length: clients }, async () => {
        while (performance.now() < overAt) {
          const status = await send(at++)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }),
    )
    await until('it is over', () => performance.now() > overAt, attackMs / 1000 + 10)
    const during = await client.report()
    await going
    const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
    table.push(`| ${name} | ${told} | ${peace.uploads} | ${peace.uploadP99.toFixed()} ms | ${during.uploads} | ${during.uploadP99.toFixed()} ms |`)
    expect(world.program.child.exitCode).toBe(null)
    expect([...peace.wrong, ...during.wrong], 'the polite client was answered otherwise').toEqual([])
    // A piece of work of a hundred megapixels is as much as somebody else may wait for, on a machine whose cores the attackers use as well.
    expect(during.uploadP99).toBeLessThanOrEqual(2 * peace.uploadP99 + 500)
    expect(during.p99).toBeLessThanOrEqual(2 * peace.p99 + 500)
    return statuses
  }

  test('pictures of few bytes and many pixels', { timeout: 120_000 }, async () => {
    const statuses = await siege('38 bytes that are 85 megapixels, from 40 clients', 40, at =>
      upload(evil.brandId, wideWebp(9_000 + (at % 100) * 7, 9_500 - (at % 100) * 5), undefined),
    )
    expect([...statuses.keys()].toSorted()).toEqual([201, 429])
  })

  test('stores nothing for an archived brand, for a repeated key or for a file that is no picture', { timeout: 240_000 }, async () => {
    const { createBrand } = (await evil.query('mutation { createBrand(input: { name: "Closed" }) { id } }')) as { createBrand: { id: string } }
    await evil.query('mutation($input: ArchiveBrandInput!) { archiveBrand(input: $input) { id } }', { input: { id: createBrand.id } })
    const large = png(1_000, 700, [1, 2, 3], Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))))
    const whole = png(300, 200)
    expect(await upload(evil.brandId, whole, 'one-and-the-same')).toBe(201)
    const sends: readonly Sent[] = [
      () => upload(createBrand.id, whole),
      () => upload(evil.brandId, whole, 'one-and-the-same'),
      () => upload(evil.brandId, large),
      () => upload(evil.brandId, Buffer.concat([whole, Buffer.alloc(300_000, 65)])),
    ]
    const statuses = await siege('uploads that are refused or repeated, from 4 clients', 4, at => sends[at % sends.length]!(at))
    expect([...statuses.keys()].every(status => [201, 400, 409, 429].includes(status))).toBe(true)
    client.end()
    const files = () => readdirSync(world.storagePath, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).length
    const counts = await Promise.all([count(evil.key, evil.brandId), count(own, world.brandId)])
    // Each asset is its original and its preview; what lost a race goes with the next round.
    const named = 2 * counts.reduce((sum, each) => sum + each)
    await expect.poll(files, { timeout: 90_000, interval: 1_000 }).toBe(named)
  })
})
