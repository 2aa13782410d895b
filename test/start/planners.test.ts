import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { afterAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { isGroupAlive } from '../../db/process-table.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose, type Part } from '../engine/supergraph-fixture.ts'
import { createAsker } from '../kit/follower.ts'
import { freePort, launch, readyLine, until } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const typesWith = (fields: string) => ['T0', 'T1', 'T2'].map(name => `type ${name} implements Node @key(fields: "id") { ${fields} }`).join(' ')
const one = { __typename: 'T0', id: '1' }
const Node = { __resolveType: () => 'T0' }
/** An interface that two subgraphs know whole and a third in part: each of its types is planned by itself, at every level, and by two ways. */
const parts: Record<string, Part> = {
  whole: {
    sdl: `type Query { node: Node @shareable } type Subscription { ticks: Node } interface Node { id: ID! next: Node } ${typesWith('id: ID! next: Node @shareable')}`,
    resolvers: { Query: { node: () => one }, Node, T0: { next: () => one } },
  },
  twin: {
    sdl: `type Query { node: Node @shareable } interface Node { id: ID! next: Node } ${typesWith('id: ID! next: Node @shareable')}`,
    resolvers: { Query: { node: () => one }, Node, T0: { next: () => one } },
  },
  part: { sdl: `type Query { other: Int } interface Node { id: ID! } ${typesWith('id: ID!')}`, resolvers: { Query: { other: () => 7 } } },
}
const servers = new Map(await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await serveSubgraph(part)] as const)))
afterAll(() => Promise.all([...servers.values()].map(server => server.stop())))

const file = join(mkdtempSync(join(process.env[runFolderVariable]!, 'planners-')), 'supergraph.graphql')
writeFileSync(
  file,
  [...servers].reduce((sdl, [name, { url }]) => sdl.replace(`http://${name}.invalid`, url), compose(parts)),
)

/** Takes seconds to plan, within every bound on documents. */
const dear = (field: string, copies = 10, levels = 6) =>
  Array.from({ length: copies }, (_, n) => `n${n}: ${field} { ${'next { '.repeat(levels)} id ${'}'.repeat(levels)} }`).join(' ')

/** @param files that it may have open at once */
async function startRouter(environment: Readonly<Record<string, string>>, files?: number) {
  const port = String(await freePort())
  const settings = { npm_lifecycle_event: 'start', TRUST_PROXY: '1', LOG_LEVEL: 'info', ...environment }
  const words = [process.execPath, 'router/main.ts', 'router', '--supergraph', file, '--port', port]
  const router = launch('sh', ['-c', `${files ? `ulimit -n ${files} && ` : ''}exec "$@"`, 'sh', ...words], settings)
  const [, url = ''] = await router.printed(readyLine)
  const ask = async (query: string, from: string) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': from }
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json()
  }
  /** What the router started. */
  const planners = () =>
    execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
      .split('\n')
      .flatMap(line => {
        const [pid, parent] = line.trim().split(/\s+/)
        return Number(parent) === router.child.pid && line.includes('plan/apart/main.ts') ? [Number(pid)] : []
      })
  return { router, url, ask, planners }
}

test('S-10 refuses an operation that takes seconds to plan, without delaying or failing others', async () => {
  const { router, url, ask, planners } = await startRouter({ PLANNING_TIMEOUT_MS: '900' })
  try {
    expect(await ask('{ other }', '203.0.113.7')).toEqual({ data: { other: 7 } })
    const [first] = planners()
    const hostile = Array.from({ length: 3 }, (_, n) => ask(`{ ${dear('node', 10 - n)} }`, '203.0.113.7'))
    // A planned operation is answered at once, others after planning.
    for (let n = 0; n < 10; n++) {
      expect(await ask('{ other }', '203.0.113.7')).toEqual({ data: { other: 7 } })
      expect(await ask(`{ other${n}: other }`, `198.51.100.${n}`)).toEqual({ data: { [`other${n}`]: 7 } })
    }
    const refusal = { message: 'The operation takes too long to plan; ask for less at once.', extensions: { code: 'BAD_USER_INPUT' } }
    for (const answer of await Promise.all(hostile)) expect(answer).toMatchObject({ errors: [refusal] })
    expect(planners()).not.toContain(first)
    // Also for streams.
    const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 })
    const told = await new Promise(resolve => {
      client.subscribe({ query: `subscription { ticks { ${dear('next', 10, 5)} } }` }, { next: resolve, error: resolve, complete: () => {} })
    })
    expect(told).toMatchObject({ errors: [refusal] })
    await client.dispose()
    const metrics = await (await fetch(new URL('/metrics', url))).text()
    expect(metrics).toMatch(/^supergraph_plans_stopped_total 4$/m)

    for (const pid of planners()) process.kill(pid, 'SIGKILL')
    expect(await ask('{ again: other }', '203.0.113.8')).toEqual({ data: { again: 7 } })
  } finally {
    router.child.kill('SIGTERM')
    await router.ended
  }
})

test('S-10 a router that ends while it plans leaves no planner process behind, stopped or killed', async () => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { router, ask, planners } = await startRouter({ PLANNING_TIMEOUT_MS: '60000' })
    const under = Promise.allSettled(['203.0.113.7', '203.0.113.8'].map((from, n) => ask(`{ ${dear('node', 10 - n)} }`, from)))
    await until('both planners are there', () => planners().length === 2)
    router.child.kill(signal)
    expect(await router.ended).toBe(signal === 'SIGTERM' ? 0 : 'SIGKILL')
    await until('nothing of it runs', () => !isGroupAlive(router.child.pid!))
    await under
  }
})

test('S-10 a router that changes its supergraph keeps planner processes of the last one only', async () => {
  const { router, ask, planners } = await startRouter({})
  const sdl = readFileSync(file, 'utf8')
  try {
    for (const time of [1, 2, 3]) {
      // Needs a different graph: an equal one would not be reloaded.
      writeFileSync(`${file}.next`, sdl.replace(/^type Query/m, `"Read ${time} times."\ntype Query`))
      renameSync(`${file}.next`, file)
      router.child.kill('SIGHUP')
      await until('it was read', () => router.said().match(/the new graph is in use/g)?.length === time)
      expect(await ask(`{ other${time}: other }`, '203.0.113.7')).toEqual({ data: { [`other${time}`]: 7 } })
    }
    await until('one is left', () => planners().length === 1)
  } finally {
    router.child.kill('SIGTERM')
    await router.ended
  }
})

test.skipIf(process.platform !== 'linux')('S-10 a router that has no file left to start a planner with goes on, and answers once it has', async () => {
  const files = 64
  const { router, url, planners } = await startRouter({}, files)
  const { origin, port, hostname } = new URL(url)
  const asker = createAsker({ url: origin }, 1)
  const sockets: Socket[] = []
  try {
    // One connection to it, one of its own to the subgraph: both stay.
    expect((await asker.ask('{ other }')).text).toBe('{"data":{"other":7}}')
    const [planner] = planners()
    const open = () => readdirSync(`/proc/${router.child.pid}/fd`).length
    for (let n = 0; n < files; n++) sockets.push(connect(Number(port), hostname).on('error', () => {}))
    await until('all are taken', () => open() >= files - 1)
    process.kill(planner!, 'SIGKILL')
    // Its port is free; the next one takes it.
    await until('it is gone', () => !planners().includes(planner!))
    for (let n = 0; n < files; n++) sockets.push(connect(Number(port), hostname).on('error', () => {}))
    await until('all are taken again', () => open() >= files - 1)
    const asked = asker.ask('{ again: other }')
    await router.printed(/planner did not start/)
    for (const socket of sockets) socket.destroy()
    expect((await asked).text).toBe('{"data":{"again":7}}')
  } finally {
    asker.close()
    for (const socket of sockets) socket.destroy()
    router.child.kill('SIGTERM')
    await router.ended
  }
})
