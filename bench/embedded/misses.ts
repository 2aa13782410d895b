/**
 * Program that measures new operations, and whether their memory is released. Arguments: the supergraph's file, `plan`
 * for workload 2 of the platform planned repeatedly, or `memory` for 5,000 distinct operations over the shop. Prints
 * one JSON line.
 */
import { readFileSync } from 'node:fs'
import { parse, validate } from 'graphql'
import { createEngine } from '../../router/engine/native/native.ts'
import { openPlanning } from '../../router/engine/plan/apart/planning.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { crossing } from '../platform/query.ts'
import { shopSubgraphs } from '../shop/supergraph.ts'
import { median } from '../table.ts'

const [, , file, what] = process.argv
const supergraphSdl = readFileSync(file!, 'utf8')

process.send?.(what === 'plan' ? await planning() : await remembering())
process.disconnect?.()

/**
 * Measures the milliseconds of an operation's first run, with parsing, validation and planning: subgraphs answer
 * nothing, at once.
 */
async function planning(): Promise<{ first: number; median: number }> {
  const transport = { fetch: async () => ({ data: null }), subscribe: () => Promise.reject(new Error('not measured')) }
  const log = { error() {}, warn() {} }
  const planning = openPlanning({ sdl: supergraphSdl }, { planMs: 60_000, log })
  await planning.ready()
  const engine = createEngine({ supergraphSdl, transport, log, planTexts: planning.planTexts })
  const times: number[] = []
  for (let turn = 0; turn < 200; turn++) {
    const began = performance.now()
    const document = parse(crossing.replace('{', `query Turn${turn} {`))
    if (validate(engine.schema, document).length > 0) throw new Error('Workload 2 is not valid any more')
    await engine.execute({ document, viewer: anonymous, requestId: 'bench' })
    times.push(performance.now() - began)
  }
  await planning.close()
  return { first: times[0]!, median: median(times.slice(20)) }
}

/** Measures the heap in megabytes after numbers of distinct operations, each run five times. */
async function remembering(): Promise<{ at: number; heap: number; rss: number }[]> {
  const engine = createEngine({ supergraphSdl, transport: createEmbeddedTransport(shopSubgraphs()), log: console })
  const seen: { at: number; heap: number; rss: number }[] = []
  for (let count = 1; count <= 5000; count++) {
    const document = parse(`{ users { id${count}: id name reviews { body product { upc inStock } } } }`)
    for (let times = 0; times < 5; times++) {
      const { errors } = await engine.execute({ document, viewer: anonymous, requestId: 'bench' })
      if (errors) throw errors[0]
    }
    if (count % 1000 === 0) {
      // Only several garbage collections, with the event loop between them, free generated code.
      for (let collections = 0; collections < 6; collections++) {
        await new Promise(setImmediate)
        globalThis.gc?.()
      }
      const { heapUsed, rss } = process.memoryUsage()
      seen.push({ at: count, heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20 })
    }
  }
  return seen
}
