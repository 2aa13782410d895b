import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { attackMs, type Crowd, crowd, isWanted, type Polite, peaceMs, polite } from './siege.ts'
import { type Neighbour, startWorld, type World } from './target.ts'

const connections = 200
/** In how many rounds peace and siege alternate: what disturbs the machine for a while disturbs both. */
const rounds = 3
const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!

describe.skipIf(!isWanted)('two hundred concurrent requests of one organization', () => {
  let world: World
  let evil: Neighbour
  let client: Polite
  let attackers: Crowd | undefined
  const table: string[] = []
  beforeAll(async () => {
    world = await startWorld({ LOG_LEVEL: 'error' })
    evil = await world.another('Hostile')
    client = await polite({ url: world.url, key: await world.key('polite'), query: `{ brand(id: "${world.brandId}") { name } }` })
    await client.during(2000)
  }, 120_000)
  afterEach(() => attackers?.leave())
  afterAll(async () => {
    client?.end()
    await world?.[Symbol.asyncDispose]()
    console.log(['| requests | answers | median before | during | p99 before | during |', '| --- | --- | --- | --- | --- | --- |', ...table].join('\n'))
  })

  const requests = {
    'reads of the graph': () => ({
      url: `${world.url}/graphql`,
      method: 'POST',
      headers: { ...evil.credential, 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ brand(id: "${evil.brandId}") { name } }` }),
    }),
    'reads by REST': () => ({ url: `${world.url}/publishing/api/brands/${evil.brandId}`, headers: evil.credential }),
    'forwarded requests that are refused': () => ({ url: `${world.url}/publishing/api/media`, method: 'POST', headers: evil.credential, body: '' }),
    'requests without a credential': () => ({ url: `${world.url}/publishing/api/brands`, headers: {} }),
  }

  it.each(Object.keys(requests) as (keyof typeof requests)[])('%s do not affect another organization’s median and p99', { timeout: 180_000 }, async name => {
    attackers = await crowd({ ...requests[name](), connections })
    // Warms up first: compilation at the first requests is not measured.
    await attackers.during(1000)
    const seen = { peace: { p50: [] as number[], p99: [] as number[] }, siege: { p50: [] as number[], p99: [] as number[] } }
    const statuses = new Map<string, number>()
    for (let round = 0; round < rounds; round += 1) {
      const peace = await client.during(peaceMs)
      const going = attackers.during(attackMs)
      const siege = await client.during(attackMs)
      for (const [status, count] of Object.entries(await going)) statuses.set(status, (statuses.get(status) ?? 0) + count)
      expect([...peace.wrong, ...siege.wrong], 'the polite client was answered otherwise').toEqual([])
      for (const figure of ['p50', 'p99'] as const) {
        seen.peace[figure].push(peace[figure])
        seen.siege[figure].push(siege[figure])
      }
    }
    const [before, during] = [seen.peace, seen.siege].map(({ p50, p99 }) => ({ p50: median(p50), p99: median(p99) })) as [Figures, Figures]
    const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
    table.push(`| ${name} | ${answers} | ${[before.p50, during.p50, before.p99, during.p99].map(ms => `${ms.toFixed(1)} ms`).join(' | ')} |`)
    expect(during.p50).toBeLessThanOrEqual(3 * before.p50 + 50)
    expect(during.p99).toBeLessThanOrEqual(10 * before.p99 + 100)
  })
})

interface Figures {
  readonly p50: number
  readonly p99: number
}
