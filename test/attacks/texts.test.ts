import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import type { Experience } from './polite.ts'
import { attackMs, isWanted, type Polite, peaceMs, polite } from './siege.ts'
import { type Neighbour, startWorld, type World } from './target.ts'

const [clients, texts] = [16, 70]
const mebibyte = 1024 * 1024
const question = 'query($id: ID!) { personProfile(id: $id) { sources(first: 70) { nodes { text } } } }'

describe.skipIf(!isWanted)('small operations with long texts of one organization', () => {
  let world: World
  let evil: Neighbour
  let client: Polite
  let id: string
  beforeAll(async () => {
    world = await startWorld({ LOG_LEVEL: 'error' })
    evil = await world.another('Hostile')
    const made = await evil.query('mutation { createPersonProfile(input: { displayName: "Long" }) { id } }')
    id = (made.createPersonProfile as { id: string }).id
    const source = 'mutation($input: CreateProfileSourceInput!) { createProfileSource(input: $input) { id } }'
    for (let at = 0; at < texts; at += 1) {
      // Two bytes per character in memory, three in UTF-8.
      const text = String.fromCharCode(0x4e00 + at) + '文字 列'.repeat(49_990)
      await evil.query(source, { input: { kind: 'DOCUMENT', personProfileId: id, title: `Text ${at}`, text } })
    }
    client = await polite({ url: world.url, key: await world.key('polite'), query: `{ brand(id: "${world.brandId}") { name organization { name } } }` })
    await client.during(2000)
  }, 180_000)
  afterAll(async () => {
    client?.end()
    await world?.[Symbol.asyncDispose]()
  })

  test('are rejected above their caller’s limit, while another organization is answered', { timeout: 120_000 }, async () => {
    // Read beside the process: its metrics would take time that the polite client waits for.
    const resident = () => 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${world.program.child.pid}/status`, 'utf8'))![1])
    const before = await world.held()
    const answers = new Map<string, number>()
    const ask = async () => {
      const answer = await fetch(`${world.url}/graphql`, {
        method: 'POST',
        headers: { ...evil.credential, 'content-type': 'application/json' },
        body: JSON.stringify({ query: question, variables: { id } }),
      })
      const code = /"code":"(\w+)"/.exec((await answer.text()).slice(0, 4000))?.[1] ?? 'text'
      answers.set(`${answer.status} ${code}`, (answers.get(`${answer.status} ${code}`) ?? 0) + 1)
    }
    let peak = before.rss
    const siege = async () => {
      const peace = await client.during(peaceMs)
      const overAt = performance.now() + 2 * attackMs
      const going = Promise.all(
        Array.from({ length: clients }, async () => {
          while (performance.now() < overAt) await ask()
        }),
      )
      while (performance.now() < overAt) {
        peak = Math.max(peak, resident())
        await new Promise(resolve => setTimeout(resolve, 100))
      }
      const during = await client.report()
      await going
      return { peace, during }
    }
    // The database and the attackers use the same cores, and so may others: then it is looked again.
    const mayTake = ({ p99 }: Experience) => 2 * p99 + 500
    let seen = await siege()
    for (let tries = 1; tries < 3 && seen.during.p99 > mayTake(seen.peace); tries += 1) seen = await siege()
    const { peace, during } = seen
    const grown = (peak - before.rss) / mebibyte
    console.log(
      [
        '| questions at once | answers | p99 before | p99 during | memory before | at most | after |',
        '| --- | --- | --- | --- | --- | --- | --- |',
        `| ${clients} | ${[...answers].map(([said, count]) => `${count} × ${said}`).join(', ')} | ${peace.p99.toFixed(1)} ms | ${during.p99.toFixed(1)} ms | ${(before.rss / mebibyte).toFixed()} MiB | ${(peak / mebibyte).toFixed()} MiB | ${((await world.held()).rss / mebibyte).toFixed()} MiB |`,
      ].join('\n'),
    )
    expect(answers.get('429 RATE_LIMITED')).toBeGreaterThan(0)
    expect([...answers.keys()].filter(said => !/^(?:429 RATE_LIMITED|200 OPERATION_TOO_EXPENSIVE)$/.test(said))).toEqual([])
    expect([...peace.wrong, ...during.wrong], 'the polite client was answered otherwise').toEqual([])
    expect(during.p99).toBeLessThanOrEqual(mayTake(peace))
    expect(grown).toBeLessThan(400)
    await until('nothing is held of it any more', async () => /^supergraph_bytes_in_flight 0$/m.test(await (await fetch(`${world.url}/metrics`)).text()))
  })
})
