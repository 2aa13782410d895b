import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compose } from '../engine/supergraph-fixture.ts'
import { createAsker, type Follower, follow, forms } from '../kit/follower.ts'
import { type DataFolder, newDataFolder, until } from '../kit/launch.ts'
import { answers, type Evil, serveEvil, streams } from './evil.ts'
import { attackMs, isWanted, type Polite, peaceMs, polite, recovered, rows, tellRows } from './siege.ts'
import { startTarget, type Target } from './target.ts'

const parts = {
  nice: { sdl: 'type Query { hello: String }' },
  evil: { sdl: 'type Query { evil: String } type Subscription { evilEvents: String }' },
}

describe.skipIf(!isWanted)('a subgraph that has lost its mind', () => {
  const nice = isWanted ? fork(join(import.meta.dirname, 'nice.ts')) : null
  let folder: DataFolder
  let evil: Evil
  let router: Target
  let client: Polite
  beforeAll(async () => {
    folder = newDataFolder()
    evil = await serveEvil()
    const [niceUrl] = (await once(nice!, 'message')) as [string]
    const file = join(folder.path, 'supergraph.graphql')
    writeFileSync(file, compose(parts).replace('http://nice.invalid', niceUrl).replace('http://evil.invalid', evil.url))
    router = await startTarget(folder, ['router', '--supergraph', file], { LOG_LEVEL: 'fatal', FETCH_TIMEOUT_MS: '4000' })
    client = await polite({ url: router.url, query: '{ hello }', ...(process.platform === 'linux' && { from: '127.0.0.9' }) })
    await client.during(1000)
  }, 60_000)
  afterAll(async () => {
    client?.end()
    nice?.disconnect()
    await router?.[Symbol.asyncDispose]()
    await evil?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
    tellRows()
  })

  async function besieged(name: string, attack: (overAt: number) => Promise<string>): Promise<void> {
    const before = await router.held()
    const [openBefore, peace] = [evil.open, await client.during(peaceMs / 2)]
    const became = await attack(performance.now() + attackMs / 2)
    const during = await client.report()
    const after = await recovered(router.held, before, 24)
    await until('no connection to it is left but those that are kept', () => evil.open <= openBefore + 64)
    rows.push({ name, became, peace, during, before, after })
    for (const seen of [peace, during, await client.during(200)]) expect(seen.wrong, 'the polite client was answered otherwise').toEqual([])
    expect(during.asked).toBeGreaterThan(0)
    expect(router.program.child.exitCode).toBe(null)
  }

  test.each(Object.keys(answers))('a query that it %s', { timeout: 60_000 }, async answer => {
    evil.answer = answer
    await besieged(`it ${answer}`, async overAt => {
      // More than the router runs at once for all callers.
      const asker = createAsker({ url: router.url, from: '127.3.0.1' }, 300)
      const codes = new Map<string, number>()
      await Promise.all(
        Array.from({ length: 300 }, async () => {
          while (performance.now() < overAt) {
            const { status, text } = await asker.ask('{ evil }')
            const code = /"code":"(\w+)"/.exec(text)?.[1] ?? `${status} ${text.slice(0, 60)}`
            codes.set(code, (codes.get(code) ?? 0) + 1)
          }
        }),
      )
      asker.close()
      expect([...codes.keys()].filter(code => code !== 'UPSTREAM_FAILED' && code !== 'RATE_LIMITED')).toEqual([])
      return [...codes].map(([code, count]) => `${count} ${code}`).join(', ')
    })
  })

  test.each(Object.keys(streams))('a stream that %s', { timeout: 60_000 }, async stream => {
    evil.stream = stream
    await besieged(`a stream ${stream}`, async overAt => {
      let followers: Follower[] = []
      const beginning = Array.from({ length: 30 }, (_, at) =>
        follow({ url: router.url, from: '127.3.0.2' }, forms[at % 3]!, `subscription S${at % 5} { evilEvents }`).catch(() => null),
      )
      const late = new Promise<'late'>(resolve => setTimeout(() => resolve('late'), Math.max(0, overAt - performance.now())))
      await Promise.all(beginning.map(each => Promise.race([each, late])))
      await late
      // A stream that does not start ends with the fetch's time limit.
      followers = (await Promise.all(beginning)).filter(each => each !== null)
      const told = followers.reduce((sum, each) => sum + each.told, 0)
      const cut = followers.filter(({ isCut }) => isCut).length
      await Promise.all(followers.map(each => each.leave(false)))
      return `${followers.length} of 30 began, ${told} events told, ${cut} ended`
    })
  })
})
