import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { buildSchema, parse } from 'graphql'
import { expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { mostAnswerBytes } from '../../router/engine/data/bytes.ts'
import { amountFor } from '../../router/engine/operation/cost/amount.ts'
import { estimateOf } from '../../router/engine/operation/cost/estimate.ts'
import { findOperation, type Operation } from '../../router/engine/operation/operation.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { affordable, chances, changed, expensiveQuery, type Ground, knownQueries, mostBytes, newChoices } from './worst-query.ts'

/** How many queries the search makes, and the seconds after which it begins no other. A longer search: `WORST_QUERIES=1000`. */
const queries = Number(process.env.WORST_QUERIES ?? 30)
const seconds = Number(process.env.WORST_SECONDS ?? 40)
/** Printed, and given as `SEED` to repeat a search. */
const seed = Number(process.env.SEED ?? 20261122)

const bounds = { cpuMs: 1000, bytes: mostAnswerBytes + 100_000, healthMs: 1000 }
const { maxCost } = readConfig({}).remote

interface Cost {
  readonly cpuMs: number
  readonly bytes: number
  readonly healthMs: number
  readonly status: number
  readonly code: string
}

test('no query of a thousand bytes that may run costs an owner’s platform a second of its processor, 16 MiB, or its health', {
  timeout: (seconds + 120) * 1000,
}, async () => {
  const child = fork(join(import.meta.dirname, 'crowded.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  try {
    const said = async <Message>() => (await once(child, 'message'))[0] as Message
    const { url, token, ids } = await said<{ url: string; token: string; ids: Ground['ids'] }>()
    const { port } = new URL(url)
    const spent = async () => {
      child.send('cost')
      return await said<{ cpuMs: number; megabytes: number }>()
    }
    const send = (path: string, body?: string) =>
      new Promise<{ status: number; bytes: number; head: string; ms: number }>((resolve, reject) => {
        const began = performance.now()
        const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
        const asked = request({ host: '127.0.0.1', port, path, method: body ? 'POST' : 'GET', headers }, answer => {
          let bytes = 0
          let head = ''
          answer.on('data', (piece: Buffer) => {
            bytes += piece.length
            if (head.length < 4000) head += String(piece)
          })
          answer.on('end', () => resolve({ status: answer.statusCode!, bytes, head, ms: performance.now() - began }))
        })
        asked.on('error', reject)
        asked.end(body)
      })
    const costOf = async (query: string): Promise<Cost> => {
      const before = await spent()
      let over = false
      let healthMs = 0
      const looking = (async () => {
        while (!over) {
          healthMs = Math.max(healthMs, (await send('/health/live')).ms)
          await new Promise(resolve => setTimeout(resolve, 20))
        }
      })()
      const { status, bytes, head } = await send('/graphql', JSON.stringify({ query }))
      over = true
      await looking
      const after = await spent()
      return { cpuMs: after.cpuMs - before.cpuMs, bytes, healthMs, status, code: /"code":"(\w+)"/.exec(head)?.[1] ?? '' }
    }

    await costOf('{viewer{kind}posts{nodes{id author{name}}}}')
    const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../schema/api.graphql'), 'utf8'))
    const chance = chances(seed)
    const end = performance.now() + seconds * 1000
    const seen: { query: string; choices: readonly number[] | null; cost: Cost }[] = []
    const look = async (query: string, choices: readonly number[] | null) => {
      expect(Buffer.byteLength(query)).toBeLessThanOrEqual(mostBytes)
      const costs = [await costOf(query)]
      const inWords = () => `${query} (SEED=${seed}): ${JSON.stringify(costs)}`
      expect(costs[0]!.bytes, inWords()).toBeLessThanOrEqual(bounds.bytes)
      // Whatever else the machine is busy with costs the processor's caches, and health its turn; and that passes.
      const least = (of: 'cpuMs' | 'healthMs') => Math.min(...costs.map(each => each[of]))
      while (costs.length < 4 && (least('cpuMs') > bounds.cpuMs || least('healthMs') > bounds.healthMs)) costs.push(await costOf(query))
      expect(least('cpuMs'), inWords()).toBeLessThanOrEqual(bounds.cpuMs)
      expect(least('healthMs'), inWords()).toBeLessThanOrEqual(bounds.healthMs)
      seen.push({ query, choices, cost: costs[0]! })
    }
    const supergraph = readSupergraph(readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8'))
    const estimated = (query: string) => amountFor(estimateOf(findOperation(parse(query), undefined) as Operation, supergraph).total, {})
    for (const query of knownQueries) {
      await look(query, null)
      const less = affordable(query, maxCost, estimated)
      // A query that is too expensive is refused, if only for its depth.
      if (less !== query) expect(seen.at(-1)!.cost.code, query).toMatch(/OPERATION_TOO_EXPENSIVE|BAD_USER_INPUT/)
      if (less && less !== query) await look(less, null)
    }
    for (let made = 0; made < queries && performance.now() < end; made++) {
      const best = seen.filter(each => each.choices !== null).sort((a, b) => b.cost.cpuMs - a.cost.cpuMs)
      // Half of them are new, half are like one of the worst five so far.
      const choices = best.length < 5 || chance(2) === 0 ? newChoices(chance) : changed(best[chance(5)]!.choices!, chance)
      const query = affordable(expensiveQuery({ schema, ids }, choices), maxCost, estimated)
      if (query) await look(query, choices)
    }
    const worst = seen.sort((a, b) => b.cost.cpuMs - a.cost.cpuMs).slice(0, 3)
    for (const { query } of worst) for (let time = 0; time < 3; time++) await look(query, null)
    const { megabytes } = await spent()
    console.log(`SEED=${seed}: ${seen.length} queries, ${megabytes.toFixed(0)} MB at the end; the worst:`)
    for (const { query, cost } of worst)
      console.log(
        `${cost.cpuMs.toFixed(0)} ms, cost ${estimated(query)}, ${cost.bytes} bytes, health ${cost.healthMs.toFixed(0)} ms, ${cost.status} ${cost.code} ${query}`,
      )
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
})
