/** What CI runs, as data: `run.ts` decides which of it, in which order, and counts. */

/** A command that passes or fails. */
export interface Step {
  readonly name: string
  /** After so many seconds it is ended and has failed. */
  readonly seconds: number
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Programs that it cannot do without; where one is missing the step is skipped. */
  readonly needs?: readonly string[]
}

/** A group of test files that has time and an environment of its own. */
export interface TestFiles {
  readonly name: string
  /** Files that have not begun by then are left out. */
  readonly seconds: number
  /** Paths and options of vitest. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Test files that end processes again and again, or start a platform for each line of a recipe: minutes each, so they are a long item. */
export const longTests: readonly string[] = [
  'test/chaos/crash-points.test.ts',
  'test/chaos/facts.test.ts',
  'test/chaos/handoffs.test.ts',
  'test/chaos/mails.test.ts',
  'test/chaos/public-chat.test.ts',
  'test/chaos/runs.test.ts',
  'test/start/dev.test.ts',
  'test/start/recipe.test.ts',
]

const tests = (...paths: string[]): readonly string[] => ['npm', 'test', '--', ...paths]

/** The whole graph once with processes apart; the default test run has one process and events in memory. */
export const graphApart: TestFiles = {
  name: 'the whole graph with every subgraph apart, events by NATS',
  seconds: 720,
  args: ['test/supergraph'],
  env: { GRAPH_MODE: 'apart', GRAPH_CARRIER: 'nats' },
}

/** What people do with the pages, in a browser, and what axe finds on each of them. */
export const journeys: TestFiles = { name: 'journeys in a browser', seconds: 1400, args: ['--no-file-parallelism', 'test/journeys'], env: { WEB: '1' } }

/** Chapters of the trial from outside, in the order in which the services were built. */
export const chapters = {
  embedded: ['slice', 'six', 'doors', 'identity', 'providers', 'publishing', 'repairs', 'payments', 'agents', 'launcher'],
  // Each router has figures of its own, so the chapter doors needs a single router.
  apart: ['slice', 'six', 'identity', 'providers', 'publishing'],
} as const

/** Two of each process. */
export const replicas = 'router=2,publishing=2,agents=2,payments=2,launcher=2,providers=2,identity=2'

/** Items that take minutes and look further into what the other lists have tried. `runs.json` says when each ran last. */
export const long: readonly Step[] = [
  { name: 'long tests', seconds: 420, command: tests(...longTests) },
  { name: 'database faults', seconds: 300, command: tests('test/db/faults.test.ts'), env: { FAULTS: '1' } },
  { name: 'two of everything', seconds: 480, command: tests('test/chaos/two-of-everything.test.ts'), env: { CHAOS: '1' } },
  { name: 'graph by NOTIFY', seconds: 300, command: tests('test/supergraph'), env: { GRAPH_CARRIER: 'notify' } },
  { name: 'graph apart by NOTIFY', seconds: 480, command: tests('test/supergraph'), env: { GRAPH_MODE: 'apart', GRAPH_CARRIER: 'notify' } },
  { name: 'posts under kills', seconds: 620, command: tests('test/chaos/every-network.test.ts'), env: { CHAOS: '1' } },
  { name: 'runs under kills', seconds: 600, command: tests('test/chaos/plans.test.ts'), env: { CHAOS: '1' } },
  { name: 'notices under kills', seconds: 420, command: tests('test/chaos/notices.test.ts'), env: { CHAOS: '1' } },
  { name: 'payments under kills', seconds: 720, command: tests('test/chaos/payments/kills.test.ts'), env: { CHAOS: '1' } },
  { name: 'pages within reach', seconds: 900, command: ['npm', 'run', 'test:reach'], needs: ['chromium'] },
  { name: 'films under kills', seconds: 300, command: tests('test/chaos/films.test.ts'), env: { CHAOS: '1' } },
  { name: 'attacks', seconds: 700, command: ['npm', 'run', 'test:attacks'], env: { ATTACK_SECONDS: '2', PEACE_SECONDS: '1' } },
  { name: 'differential', seconds: 300, command: tests('test/differential'), env: { DIFFERENTIAL_OPERATIONS: '2100', FUZZ_OPERATIONS: '20000' } },
  {
    name: 'worst query',
    seconds: 180,
    command: tests('test/hostile/worst-query.test.ts'),
    env: { WORST_QUERIES: '300', WORST_SECONDS: '30' },
  },
  { name: 'mutations', seconds: 420, command: ['npm', 'run', 'test:mutations', '--', '--changed', '--minutes', '3'] },
]
