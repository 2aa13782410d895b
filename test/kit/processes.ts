import { randomBytes } from 'node:crypto'
import { publicHalf } from '../../router/engine/transport/seal.ts'
import { type ListedSlug, listedSlugs } from '../../router/start/registry.ts'
import { mode } from './assembled.ts'
import { type DataFolder, freePort, type Launched, launch, launchPlatform, newDataFolder, platformEnvironment } from './launch.ts'

/** A platform as processes of this machine, on a database of the test's. */
export interface Processes extends AsyncDisposable {
  /** The origin that it calls its own: that of the first router. */
  readonly url: string
  /** Where it answers, an address for each router; in one process there is one. */
  readonly routers: readonly string[]
  /** Starts `start:router -- --workers` before the same subgraphs. @returns where it answers; null in one process, which has no routers apart */
  startWorkers(count: number): Promise<string | null>
}

const readyPattern = /ready in .* s: /

/**
 * Starts it as `GRAPH_MODE` says: in one process, or two routers before subgraphs, each a process of its own.
 * @param services those that the test asks; in one process there are all of them
 * @param environment what every process is told beside what it needs anyway
 */
export async function startProcesses(
  databaseUrl: string,
  { services = listedSlugs, environment = {} }: { readonly services?: readonly ListedSlug[]; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<Processes> {
  const shared = { LOG_LEVEL: 'fatal', ...environment }
  const secrets = { AUTH_SECRET: randomBytes(32).toString('hex'), ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
  await using opening = new AsyncDisposableStack()
  const running: Launched[] = []
  opening.defer(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
  })
  const run = (launched: Launched): Launched => {
    running.push(launched)
    return launched
  }
  if (mode === 'embedded') {
    const folder: DataFolder = opening.use(newDataFolder())
    const own = await platformEnvironment(folder)
    const url = `http://localhost:${own.PORT}`
    await run(launchPlatform({ ...own, ...shared, ...secrets, DEMO: '0', DATABASE_URL: databaseUrl, PUBLIC_URL: url })).printed(readyPattern)
    const stack = opening.move()
    return { url, routers: [url], startWorkers: async () => null, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
  const key = { id: 'test', key: randomBytes(32) }
  const routerPorts = [await freePort(), await freePort()]
  const ports = new Map(await Promise.all(listedSlugs.map(async slug => [slug, await freePort()] as const)))
  const url = `http://localhost:${routerPorts[0]}`
  const places = Object.fromEntries([...ports].map(([slug, port]) => [`${slug.toUpperCase()}_URL`, `http://localhost:${port}/graphql`]))
  const start = (words: readonly string[], more: Readonly<Record<string, string>>) =>
    run(launch(process.execPath, ['router/main.ts', ...words], { ...shared, ...places, PUBLIC_URL: url, ...more, npm_lifecycle_event: 'test' }))
  const half = publicHalf(key)
  const ofRouter = { SEAL_PRIVATE_KEY: `${key.id}:${key.key.toString('base64')}` }
  const ofSubgraph = { ...secrets, DATABASE_URL: databaseUrl, ROUTER_URL: url, SEAL_PUBLIC_KEYS: `${half.id}:${half.key.toString('base64')}` }
  await Promise.all(
    [
      ...services.map(slug => start(['subgraph', slug, '--port', String(ports.get(slug))], ofSubgraph)),
      ...routerPorts.map(port => start(['router', '--port', String(port)], ofRouter)),
    ].map(each => each.printed(readyPattern)),
  )
  const stack = opening.move()
  return {
    url,
    routers: routerPorts.map(port => `http://localhost:${port}`),
    async startWorkers(count) {
      const port = await freePort()
      // Its workers end with the process.
      await start(['router', '--workers', String(count), '--port', String(port)], ofRouter).printed(readyPattern)
      return `http://localhost:${port}`
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
