import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { attackMs, isWanted, type Polite, peaceMs, polite } from './siege.ts'
import { type Neighbour, startWorld, type World } from './target.ts'

/** Addresses that one organization names at once. */
const addresses = 40

describe.skipIf(!isWanted)('addresses with unanswered DNS names', () => {
  let silence: Socket
  let world: World
  let evil: Neighbour
  let client: Polite
  let questions = 0
  beforeAll(async () => {
    silence = createSocket('udp4', () => (questions += 1)).bind(0, '127.0.0.1')
    await once(silence, 'listening')
    const { port } = silence.address() as AddressInfo
    world = await startWorld({ LOG_LEVEL: 'error', OUTBOUND_DNS_SERVERS: `127.0.0.1:${port}` })
    evil = await world.another('Hostile')
    // Uploads use the thread pool that DNS lookups once exhausted.
    client = await polite({
      url: world.url,
      key: await world.key('polite'),
      query: `{ brand(id: "${world.brandId}") { name } }`,
      uploads: { brandId: world.brandId },
    })
    await client.during(2000)
  }, 120_000)
  afterAll(async () => {
    client?.end()
    await world?.[Symbol.asyncDispose]()
    silence?.close()
  })

  test('are rejected, while another organization is answered as usual', { timeout: 120_000 }, async () => {
    const peace = await client.during(peaceMs)
    const overAt = performance.now() + 2 * attackMs
    const answers = new Map<string, number>()
    const endpoint = 'mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }'
    const media = 'mutation($input: ImportMediaInput!) { importMedia(input: $input) { id } }'
    const name = async (seat: number, turn: number) => {
      const url = `https://n${seat}-${turn}.silent.example/a.png`
      const input = { brandId: evil.brandId, url, ...(seat % 2 === 0 && { events: ['post.published'] }) }
      const said = await evil.query(seat % 2 === 0 ? endpoint : media, { input }).then(
        () => 'taken',
        error => /[A-Z]{4,}(?:_[A-Z]+)+/.exec(String(error))?.[0] ?? String(error),
      )
      answers.set(said, (answers.get(said) ?? 0) + 1)
    }
    const going = Promise.all(
      Array.from({ length: addresses }, async (_, seat) => {
        for (let turn = 0; performance.now() < overAt; turn++) await name(seat, turn)
      }),
    )
    await until('it is over', () => performance.now() > overAt, (2 * attackMs) / 1000 + 10)
    const during = await client.report()
    await going
    console.log(
      [
        '| addresses | answers | questions of DNS | p99 before | p99 during | uploads before | during | p99 before | p99 during |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
        `| ${addresses} | ${[...answers].map(([said, count]) => `${count} × ${said}`).join(', ')} | ${questions} | ${peace.p99.toFixed(1)} ms | ${during.p99.toFixed(1)} ms | ${peace.uploads} | ${during.uploads} | ${peace.uploadP99.toFixed()} ms | ${during.uploadP99.toFixed()} ms |`,
      ].join('\n'),
    )
    expect(answers.has('taken')).toBe(false)
    expect(questions).toBeGreaterThan(0)
    expect([...peace.wrong, ...during.wrong], 'the polite client was answered otherwise').toEqual([])
    expect(during.p99).toBeLessThanOrEqual(2 * peace.p99 + 50)
    expect(during.uploadP99).toBeLessThanOrEqual(2 * peace.uploadP99 + 100)
  })
})
