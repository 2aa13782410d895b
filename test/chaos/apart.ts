import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicHalf } from '../../router/engine/transport/seal.ts'
import { createTestDatabase } from '../kit/database.ts'
import { freePort, type Launched, launch, newDataFolder } from '../kit/launch.ts'

/** The line by which a process says that it is ready. */
export const ready = /ready in .* s/

/** A slot for one process of a service: the test kills its process and starts the next one at the same port. */
export interface Worker {
  /** The present process. */
  readonly process: Launched
  /** Starts the next one, which ends by itself at a point where one is named. Waits for nothing. */
  begin(point?: string): Launched
}

/** A service as several processes, with what it cannot do without: identity, providers, a router, the sandbox and one database with demo data. */
export interface Apart extends AsyncDisposable {
  readonly url: string
  /** Where the sandbox is. */
  readonly origin: string
  readonly workers: readonly Worker[]
  /** What the demo's file says. */
  // biome-ignore lint/suspicious/noExplicitAny: each service writes its own part
  readonly demo: any
  /** Asks the sandbox under `/_control`, or with a body tells it something. */
  control<Answer>(path: string, body?: object): Promise<Answer>
  rows<Row>(statement: string, bind?: readonly unknown[]): Promise<Row[]>
}

export interface ApartOptions {
  /** Number of the service's processes. */
  readonly count: number
  /** Returns settings that all processes have besides. @param origin of the sandbox */
  readonly settings?: (origin: string) => Readonly<Record<string, string>>
  /** Where the sandbox sends the processor's events, below the router's address. */
  readonly processorEvents?: string
}

const steady = ['identity', 'providers'] as const

/** Opens a service apart, and waits until all processes are ready. */
export async function openApart(slug: 'agents' | 'launcher' | 'payments', { count, settings, processorEvents }: ApartOptions): Promise<Apart> {
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await createTestDatabase({ empty: true }))
  const folder = opening.use(newDataFolder())
  const running = new Set<Launched>()
  opening.defer(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all([...running].map(({ ended }) => ended))
  })
  const keep = (launched: Launched): Launched => {
    running.add(launched)
    launched.ended.finally(() => running.delete(launched))
    return launched
  }
  const [port, ...others] = await Promise.all(Array.from({ length: 1 + steady.length + count }, () => freePort()))
  const url = `http://localhost:${port}`
  const sandboxFolder = join(folder.path, 'sandbox')
  const played = ['--folder', sandboxFolder, '--port', '0', '--smtp-port', '0', '--dns-port', '0']
  const endpoint = processorEvents ? ['--endpoint', `stripe-payments=${url}${processorEvents}`] : []
  const [origin = ''] = await keep(launch(process.execPath, ['sandbox/main.ts', ...played, ...endpoint])).printed(/^http:\S+/m)

  const token = () => randomBytes(32).toString('base64url')
  const seal = { id: 'test', key: randomBytes(32) }
  const half = publicHalf(seal)
  const tokens = new Map<string, string>([...steady, slug].map(each => [each, `app_${each}:${token()}`]))
  const [ofIdentity, ofProviders, ...ofWorkers] = others.map(each => `http://localhost:${each}/graphql`)
  const shared = {
    ...{ DATA_DIR: folder.path, PUBLIC_URL: url, DATABASE_URL: database.url, SANDBOX_DIR: sandboxFolder, EVENT_CARRIER: 'notify', LOG_LEVEL: 'error' },
    ...{ AUTH_SECRET: token(), ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`, ROUTER_URL: url, npm_lifecycle_event: 'test' },
    ...{ IDENTITY_URL: ofIdentity!, PROVIDERS_URL: ofProviders!, [`${slug.toUpperCase()}_URL`]: ofWorkers.join() },
    ...settings?.(origin),
  }
  const run = (words: readonly string[], more: Readonly<Record<string, string>>) =>
    keep(launch(process.execPath, ['router/main.ts', ...words], { ...shared, ...more }))
  const subgraph = (name: string, at: number, more: Readonly<Record<string, string>> = {}) =>
    run(['subgraph', name, '--port', String(at)], {
      ...{ APP_SERVICE_TOKENS: tokens.get(name)!, SEAL_PUBLIC_KEYS: `${half.id}:${half.key.toString('base64')}` },
      ...more,
    })

  const all = [...tokens.values()].join()
  const demo = run(['demo'], { APP_SERVICE_TOKENS: all })
  await demo.printed(ready)
  demo.child.kill('SIGTERM')
  await demo.ended
  const routing = { APP_SERVICE_TOKENS: all, SEAL_PRIVATE_KEY: `${seal.id}:${seal.key.toString('base64')}` }
  const first = [...steady.map((each, at) => subgraph(each, others[at]!)), run(['router', '--port', String(port)], routing)]
  const workers = ofWorkers.map((_, at) => {
    const begin = (point?: string) => subgraph(slug, others[steady.length + at]!, point === undefined ? {} : { CRASH_AT: point })
    let current = begin()
    return {
      get process() {
        return current
      },
      begin(point?: string) {
        current = begin(point)
        return current
      },
    }
  })
  await Promise.all([...first, ...workers.map(({ process }) => process)].map(each => each.printed(ready)))
  const stack = opening.move()
  return {
    ...{ url, origin, workers, demo: JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8')) },
    async control<Answer>(path: string, body?: object) {
      const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const answer = await fetch(`${origin}/_control/${path}`, sent)
      if (!answer.ok) throw new Error(`the sandbox answers ${answer.status}: ${await answer.text()}`)
      return (await answer.json()) as Answer
    },
    rows: async <Row>(statement: string, bind: readonly unknown[] = []) => (await database.sequelize.query(statement, { bind: [...bind] }))[0] as Row[],
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
