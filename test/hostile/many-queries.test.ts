import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { socketLimits } from '../../router/door/streaming/socket.ts'
import { amountFor } from '../../router/engine/operation/cost/amount.ts'
import { estimateOf } from '../../router/engine/operation/cost/estimate.ts'
import { findOperation, type Operation } from '../../router/engine/operation/operation.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { dial } from '../kit/bare-socket.ts'
import { until } from '../kit/launch.ts'
import { affordable, knownQueries } from './worst-query.ts'

/** For how long each kind is sent, in ms. A longer look: `MANY_SECONDS=20`. */
const forMs = 1000 * Number(process.env.MANY_SECONDS ?? 2)
/** How many of one caller are under way: over HTTP, and over one WebSocket as many as may be. */
const underWay = { http: 200, socket: socketLimits.operations } as const
/**
 * What a polite caller of another organization waits for at most, and by how much memory grows. The least of some tries
 * counts, and on a slow machine a few times what one of the questions takes there alone.
 */
const bounds = { politeMs: 2000, alone: 4, grownMegabytes: 500, tries: 4 } as const

interface Said {
  readonly url: string
  readonly token: string
  readonly polite: { readonly token: string; readonly brand: string }
}

/** What became of a flood, and what the polite caller saw meanwhile. */
interface Seen {
  readonly answers: ReadonlyMap<string, number>
  readonly politeMs: number
  readonly megabytes: number
}

let world: Said
let spent: () => Promise<{ megabytes: number }>
let end: () => Promise<unknown>
beforeAll(async () => {
  const child = fork(join(import.meta.dirname, 'crowded.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const said = async <Message>() => (await once(child, 'message'))[0] as Message
  world = await said<Said>()
  spent = () => {
    child.send('cost')
    return said<{ megabytes: number }>()
  }
  end = () => {
    child.disconnect()
    return once(child, 'exit')
  }
}, 120_000)
afterAll(() => end())

const { maxCost } = readConfig({}).remote
const supergraph = readSupergraph(readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8'))
const estimated = (query: string) => amountFor(estimateOf(findOperation(parse(query), undefined) as Operation, supergraph).total, {})
const known = (beginning: string): string => affordable(knownQueries.find(query => query.startsWith(beginning))!, maxCost, estimated)!

/** Small questions, and what each goes for. */
const questions = {
  'many of next to nothing': '{viewer{kind}}',
  'totals of lists': known('{z0:posts(first:100){totalCount nodes{id brand'),
  'pages of posts': known('{posts(first:100){nodes{z0:copy'),
  'lists within lists': known('{organizationMembers(first:100){nodes{organization{memberships(first:97){nodes{z0:id'),
} as const

const agent = new Agent({ keepAlive: true, maxSockets: underWay.http })
const send = (token: string, query: string, signal?: AbortSignal) =>
  new Promise<{ status: number; head: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const { hostname, port } = new URL(world.url)
    const asked = request({ hostname, port, path: '/graphql', method: 'POST', headers, agent, signal }, answer => {
      let head = ''
      answer.on('data', (piece: Buffer) => {
        if (head.length < 1000) head += String(piece)
      })
      answer.on('end', () => resolve({ status: answer.statusCode!, head }))
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(JSON.stringify({ query }))
  })
const codeIn = (text: string) => /"code":"(\w+)"/.exec(text)?.[1] ?? 'answered'

type Way = (query: string, count: (answer: string) => void, over: AbortSignal) => Promise<void>
const ways: Readonly<Record<string, Way>> = {
  async 'over HTTP'(query, count, over) {
    const ask = async () => {
      while (!over.aborted) {
        const answer = await send(world.token, query, over).catch(() => null)
        if (answer) count(`${answer.status} ${codeIn(answer.head)}`)
      }
    }
    await Promise.all(Array.from({ length: underWay.http }, ask))
  },
  async 'over one WebSocket'(query, count, over) {
    const wire = await dial(world.url)
    await wire.init({ authorization: `Bearer ${world.token}` })
    let at = 0
    // As many messages as may be sent at once, minus a reserve for the test's own messages.
    const most = socketLimits.messages * socketLimits.messagesAtOnceSeconds - 100
    const next = () => at < most && !over.aborted && wire.subscribe(String(at++), query)
    wire.socket.on('message', data => {
      const { type, payload } = JSON.parse(String(data))
      if (type === 'next') count(payload.errors ? codeIn(JSON.stringify(payload.errors)) : 'answered')
      if (type === 'error') count(codeIn(JSON.stringify(payload)))
      if (type === 'complete' || type === 'error') next()
    })
    for (let begun = 0; begun < underWay.socket; begun += 1) next()
    void wire.closed.then(({ code }) => count(`closed ${code}`))
    await new Promise(resolve => over.addEventListener('abort', resolve))
    wire.socket.terminate()
  },
}

async function flood(way: Way, query: string): Promise<Seen> {
  const answers = new Map<string, number>()
  const over = new AbortController()
  const going = way(query, answer => void answers.set(answer, (answers.get(answer) ?? 0) + 1), over.signal)
  let [politeMs, megabytes] = [0, 0]
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    const began = performance.now()
    const { status, head } = await send(world.polite.token, `{ brand(id: "${world.polite.brand}") { name organization { name } } }`)
    politeMs = Math.max(politeMs, performance.now() - began)
    expect([status, codeIn(head)]).toEqual([200, 'answered'])
    megabytes = Math.max(megabytes, (await spent()).megabytes)
  }
  over.abort()
  await going
  return { answers, politeMs, megabytes }
}

const rows: string[] = []
afterAll(() => {
  agent.destroy()
  console.log(['| questions | answers | polite at most | memory grew by |', '| --- | --- | --- | --- |', ...rows].join('\n'))
})

describe('many small concurrent operations of one caller', () => {
  it.each(Object.keys(ways).flatMap(way => Object.entries(questions).map(([name, query]) => [name, way, query] as const)))(
    'neither fill the memory nor delay another organization: %s, %s',
    { timeout: 120_000 },
    async (name, way, query) => {
      expect(Buffer.byteLength(query)).toBeLessThanOrEqual(1000)
      await send(world.token, query)
      const began = performance.now()
      await send(world.token, query)
      const politeMs = Math.max(bounds.politeMs, bounds.alone * (performance.now() - began))
      const seen: Seen[] = []
      const { megabytes: before } = await spent()
      const least = (of: 'politeMs' | 'megabytes') => Math.min(...seen.map(each => each[of]))
      do seen.push(await flood(ways[way]!, query))
      while (seen.length < bounds.tries && (least('politeMs') > politeMs || least('megabytes') - before > bounds.grownMegabytes))
      const answers = new Map(seen.flatMap(each => [...each.answers]))
      const grown = least('megabytes') - before
      rows.push(
        `| ${name}, ${way} | ${[...answers].map(([answer, count]) => `${count} × ${answer}`).join(', ')} | ${least('politeMs').toFixed()} ms | ${grown.toFixed()} MB |`,
      )
      expect([...answers.keys()].filter(answer => !/^(?:200 answered|answered|(?:429 )?RATE_LIMITED|closed 10(?:06|13))$/.test(answer))).toEqual([])
      expect(least('politeMs')).toBeLessThanOrEqual(politeMs)
      expect(grown).toBeLessThanOrEqual(bounds.grownMegabytes)
      // Refused or abandoned requests do not block later ones.
      await until('the caller is answered again', async () => (await send(world.token, '{viewer{kind}}')).status === 200)
    },
  )
})
