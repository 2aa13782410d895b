/** Measures the router beside its peers and prints Markdown tables: see `npm run bench -- --help`. */
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { measureApart } from './apart.ts'
import { measureEmbedded, measureEvents, measureMisses, measurePlatform, measureStore } from './embedded.ts'
import { measureCached } from './gateways/cached.ts'
import { hasPeers, measureLatency, measureRemote } from './gateways/remote.ts'
import { measureLive, measureWidgets } from './live/measure.ts'
import { measurePayments } from './payments/measure.ts'
import { measureAgents } from './platform/agents/measure.ts'
import { measureRetrieval } from './platform/agents/retrieval.ts'
import { measureAuth } from './platform/auth/measure.ts'
import { measureFairness } from './platform/fairness/measure.ts'
import { measureLauncher } from './platform/launcher/measure.ts'
import { extraNodeOptions, loadCore, pinMyself } from './processes.ts'
import { measureProviders } from './providers/measure.ts'
import { median, tableOf } from './table.ts'
import { measureWorkers } from './workers/measure.ts'

const usage = `npm run bench -- [chapter] [flags]

Chapters (all of them but launcher, widgets, payments, agents and retrieval unless one is named):
  remote     workload 1, subgraphs over HTTP, beside the peers
  embedded   workload 1 in one process, beside the peers
  platform   workload 2, the platform with its database, beside the stock gateway
  store      a store's reads and a mutation, beside a bare prepared statement
  events     an event of a subscription
  live       thousands who follow, over every door: deliveries, organizations, idle, dashboards, watched (--only takes these, too)
  misses     operations that were never asked before
  auth       who calls: keys beside better-auth's own check, tokens beside jose, signing in
  cached     workload 1 before a router with the response cache, and one without: 95 requests in 100 repeat, 5 renew
  workers    workload 1 before a router of several processes
  providers  the gateway to models: beside its peer, and with budgets and the log
  fairness   what an organization waits for while another floods reads, writes, streams, uploads or models (--only takes these)
  launcher   searches of 50,000 apps, a queue of 10,000 items, a dashboard's batch of widgets (--only takes search, queue, widgets)
  widgets    5,000 dashboards of 500 organizations with widgets that change, over WebSockets
  agents     steps of runs beside bare jobs, 10,000 runs that wait, lists of a million runs (--only takes steps, waiting, lists)
  retrieval  how often the passage that answers a question is found, of 200 questions
  payments   paying by GraphQL and REST, postings of the ledger, events until PAID, and lists of a million orders (--only takes pay, postings, paid, lists)

Flags:
  --rounds N         how many times each contender is measured (default 5)
  --only REGEXP      only contenders whose name matches
  --small            payments: a tenth of the orders; agents: of the runs
  --profile FOLDER   writes V8 profiles of the measured processes there
  --help             says this

bench/README.md tells what is measured and how.`

const { values, positionals } = askedFor()
if (values.help) {
  console.log(usage)
  process.exit()
}
if (values.profile) extraNodeOptions.push('--cpu-prof', '--cpu-prof-dir', values.profile)
await pinMyself(loadCore)

const only = values.only === undefined ? undefined : new RegExp(values.only)
const rounds = Number(values.rounds)
const chapters: Record<string, () => Promise<string>> = {
  async remote() {
    const rows = await measureRemote({ rounds, seconds: 3, only })
    const { p50, p99, rate, ratios } = await measureLatency({ rounds, seconds: 3 })
    return `## Workload 1, subgraphs over HTTP\n\n${tableOf(rows, 'ms/request', ['own engine', 'own engine, semi-space 64', 'by hand', 'by hand, semi-space 64'])}

At 70 % of its load (${rate.toFixed(0)} requests/s at fixed distances): p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, p99 ÷ p50 ${median(ratios).toFixed(1)} [${ratios[0]!.toFixed(1)}-${ratios.at(-1)!.toFixed(1)}].`
  },
  embedded: async () =>
    `## Workload 1, in process\n\n${tableOf(await measureEmbedded({ rounds, seconds: 1.5, only }), 'µs/operation', ['own engine', 'own engine, semi-space 64', 'one schema, graphql-jit', 'one schema, graphql-jit, semi-space 64'])}`,
  async platform() {
    const ratios = ['own engine']
    const table = tableOf(await measurePlatform({ rounds, seconds: 2, only }), 'µs/operation', ratios)
    const fromMemory = tableOf(await measurePlatform({ rounds, seconds: 2, only }, { memory: true }), 'µs/operation', ratios)
    return `## Workload 2, the platform\n\n${table}\n\nThe same with reads answered from memory in place of PostgreSQL:\n\n${fromMemory}`
  },
  store: async () =>
    `## The store, on PostgreSQL\n\n${tableOf(await measureStore({ rounds, seconds: 1.5, only }), 'µs/operation', ['bare prepared statement'])}`,
  events: async () => `## An event of a subscription, three entity fetches\n\n${tableOf(await measureEvents({ rounds, seconds: 1.5, only }), 'µs/event')}`,
  live: async () => `## Many who follow\n\n${await measureLive({ rounds, only })}`,
  apart: async () => `## The platform's query, every subgraph in a process of its own\n\n${await measureApart({ rounds, seconds: 3 })}`,
  auth: async () => `## Who calls\n\n${await measureAuth({ rounds, only, peers: hasPeers() })}`,
  cached: async () =>
    `## Workload 1, 95 repeated requests to 5 that renew\n\n${tableOf(await measureCached({ rounds, seconds: 3, only }), 'ms/request', ['own router, response cache off'])}`,
  workers: async () => `## Workload 1, a router of several processes\n\n${await measureWorkers({ rounds, seconds: 3 })}`,
  providers: async () => `## The gateway to models\n\n${await measureProviders({ rounds, seconds: 3, only })}`,
  fairness: async () => `## An organization beside one that floods a door\n\n${await measureFairness({ only })}`,
  launcher: async () => `## The launcher\n\n${await measureLauncher({ runs: 20 * rounds, only })}`,
  widgets: async () => `## Dashboards with live widgets\n\n${await measureWidgets({ rounds })}`,
  agents: async () => `## Agents\n\n${await measureAgents({ runs: 20 * rounds, rounds, only, isSmall: values.small })}`,
  retrieval: async () => `## Retrieval\n\n${await measureRetrieval()}`,
  payments: async () => `## Payments\n\n${await measurePayments({ rounds, only, isSmall: values.small })}`,
  async misses() {
    const { plan, memory } = await measureMisses()
    return `## Operations that were never asked before

Workload 2, from its text to its plan: median ${plan.median.toFixed(2)} ms (the very first ${plan.first.toFixed(0)} ms).

| distinct operations | heap MB | resident MB |
| --- | --- | --- |
${memory.map(({ at, heap, rss }) => `| ${at} | ${heap.toFixed(1)} | ${rss.toFixed(0)} |`).join('\n')}`
  },
}
/** Chapters that take minutes and measure one service. */
const byNameAlone = ['agents', 'launcher', 'payments', 'retrieval', 'widgets']
/** Chapters that compare the router with its peers; the others measure the platform alone and need only the project. */
const besidePeers = ['remote', 'embedded']
const [chosen] = positionals
if (chosen !== undefined && !chapters[chosen]) {
  refuse(`There is no chapter "${chosen}".`)
}
const wanted = chosen === undefined ? Object.keys(chapters).filter(name => !byNameAlone.includes(name)) : [chosen]
const leftOut = hasPeers() ? [] : wanted.filter(chapter => besidePeers.includes(chapter))
if (leftOut.length > 0)
  console.error(`Left out: ${leftOut.join(', ')}. The peers are not installed. Do it once, in a folder of their own:\n\n  npm ci --prefix bench/peers\n`)
if (leftOut.length === wanted.length) process.exit(1)
console.log(
  `# ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}, Node ${process.version}, ${rounds} rounds\n`,
)
for (const chapter of wanted.filter(name => !leftOut.includes(name))) console.log(`${await chapters[chapter]!()}\n`)
process.exit()

function askedFor() {
  const options = {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    profile: { type: 'string' },
    small: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  } as const
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    return refuse((error as Error).message)
  }
}

function refuse(why: string): never {
  console.error(`${why}\n\n${usage}`)
  process.exit(1)
}
