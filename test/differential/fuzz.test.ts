import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { composeServices } from '@apollo/composition'
import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { withLink } from '../engine/supergraph-fixture.ts'
import { actors } from './graphs/actors.ts'
import type { PurposeGraph } from './graphs/graph.ts'
import { library } from './graphs/library.ts'
import { media } from './graphs/media.ts'
import { shipping } from './graphs/shipping.ts'
import { warehouse } from './graphs/warehouse.ts'
import { generateOperation } from './operation.ts'

/** Operations over all graphs together; before a release, twenty thousand. */
const operations = Number(process.env.FUZZ_OPERATIONS ?? 1000)
const seed = Number(process.env.SEED ?? 20_261_122)
const graphs: Readonly<Record<string, PurposeGraph>> = { library, warehouse, media, shipping, actors }
const atOnce = 8

/** A router as its own process, before subgraphs of this one. */
async function startRouter(graph: PurposeGraph, stack: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const services = await Promise.all(
    Object.entries(graph.parts).map(async ([name, part]) => {
      const server = await serveSubgraph(part)
      stack.defer(() => server.stop())
      return { name, url: server.url, typeDefs: parse(withLink(part.sdl)), server }
    }),
  )
  const { supergraphSdl } = composeServices(services)
  const file = join(folder, 'supergraph.graphql')
  await writeFile(file, supergraphSdl!)
  const port = await freePort()
  const child = spawn(process.execPath, ['router/main.ts', 'router', '--supergraph', file, '--port', String(port)], {
    // No other variable of the test runner is passed, because a router would take some of them for the address of a
    // subgraph.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  stack.defer(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said = (said + chunk).slice(-4000)))
  const isUp = async () => (await fetch(`http://localhost:${port}/health/ready`).catch(() => null))?.ok ?? false
  for (let left = 200; !(await isUp()); left--) {
    if (left === 0 || child.exitCode !== null) throw new Error(`the router did not start:\n${said}`)
    await delay(50)
  }
  return {
    child,
    port,
    schema: readSupergraph(supergraphSdl!).schema,
    said: () => said,
    forget: () => services.forEach(({ server }) => void server.asked.splice(0)),
  }
}

const freePort = () =>
  new Promise<number>(resolve => {
    const server = createServer().listen(0, 'localhost', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

const dead = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** Asks once; null when no answer came. */
const ask = (agent: Agent, port: number, body: string) =>
  new Promise<{ data?: unknown; errors?: { message: string; extensions?: { code?: string } }[] } | null>(resolve => {
    const request = httpRequest(
      { agent, host: 'localhost', port, path: '/graphql', method: 'POST', headers: { 'content-type': 'application/json' } },
      response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', chunk => (text += chunk))
        response.on('end', () => resolve(JSON.parse(text)))
        response.on('error', () => resolve(null))
      },
    )
    request.on('error', () => resolve(null))
    request.end(body)
  })

test.each(Object.keys(graphs))('no valid operation ends the router or is left without an answer: %s', { timeout: 280_000 }, async name => {
  const graph = graphs[name]!
  await using stack = new AsyncDisposableStack()
  const router = await startRouter(graph, stack)
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  stack.defer(() => agent.destroy())
  const share = Math.ceil(operations / Object.keys(graphs).length)
  const shape = fc.array(fc.nat({ max: 27_720 }), { minLength: 20, maxLength: 400 })
  const counted = { asked: 0, data: 0, refused: 0, unplanned: 0, deaths: 0 }
  let round = 0
  while (counted.asked < share) {
    const bodies = fc
      .sample(shape, { seed: seed + round++, numRuns: 200 })
      .map(choices => generateOperation({ schema: router.schema, values: graph.values, mostFields: 40 }, choices))
      .filter(({ source }) => validate(router.schema, parse(source)).length === 0)
      .slice(0, share - counted.asked)
      .map(({ source, variables }) => JSON.stringify({ query: source, variables }))
    const waiting = bodies.values()
    const worker = async () => {
      for (const body of waiting) {
        const answer = await ask(agent, router.port, body)
        counted.asked++
        if (dead(router.child)) counted.deaths++
        expect(answer, `no answer to ${body}\n${router.said()}`).not.toBe(null)
        if (answer!.data) counted.data++
        else if (answer!.errors?.some(({ extensions }) => extensions?.code === 'BAD_USER_INPUT')) counted.refused++
        else counted.unplanned++
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    router.forget()
  }
  console.log(`fuzz: ${name}, seed ${seed}, ${JSON.stringify(counted)}`)
  expect(counted.deaths).toBe(0)
  expect(dead(router.child)).toBe(false)
  // Otherwise the test would not run what clients send.
  expect(counted.data).toBeGreaterThan(counted.asked * 0.85)
  expect(counted.unplanned).toBeLessThan(counted.asked * 0.1)
})
