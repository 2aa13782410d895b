import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../config.ts'
import { lockFolder } from '../../../db/lock.ts'
import { identify } from '../../../db/process-table.ts'
import { StartError } from '../../../start-error.ts'
import { serviceNameOf } from '../mode/apart.ts'
import { untilAborted } from '../process/abort.ts'
import { standardLines } from '../process/lines.ts'
import { noticesOf } from '../process/notices.ts'
import { pagesOf, type Welcome, welcome } from '../process/welcome.ts'
import { type ListedSlug, listedSlugs, routingUrls } from '../registry.ts'
import type { Process, Running, Startup } from '../startup.ts'
import { begin } from '../wire.ts'
import { gather } from './gather.ts'
import { type Kept, keep, type Part, type Role } from './keep.ts'
import { hasNatsServer, howToGetNats, natsServer } from './nats-server.ts'
import { isFreeSoon, portFor } from './ports.ts'
import { common, ourProgram, readyLine, sandboxPart } from './programs.ts'
import { readReplicas } from './replicas.ts'
import { openSharedSecrets } from './secrets.ts'

/** Milliseconds that processes of a kind, and all of them together, have to end, besides the streams' time. */
const endMs = { routers: 4_500, subgraphs: 6_500, others: 3_000, all: 10_000 }

/** The result of the process that prepares the database. */
export interface Prepared {
  readonly notices: readonly string[]
  readonly demo: NonNullable<Welcome['demo']>
}

/**
 * Starts the distributed mode on one machine: database, NATS server, sandbox, demo data, subgraphs and routers in
 * separate processes, any number of each. This process only supervises: a process that ends is started again, and the
 * others continue. All of them end with it, also when it is killed.
 * @param replicas in the format of `readReplicas`
 */
export const startApart = (config: Config, replicas: string, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const counts = readReplicas(replicas)
    const { stack, signal, reporter } = process
    const { port, publicUrl, dataDir } = config
    if (!(await isFreeSoon(port, () => formerRuns(dataDir)))) throw new StartError(`port ${port} is taken: stop what listens there, or set PORT to another one`)
    const parts: Kept[] = []
    const onlooker = createOnlooker(process, () => writeFacts(dataDir, parts))
    const run = (part: Part, withinMs: number): Kept => {
      const kept = keep(part, onlooker)
      parts.push(kept)
      stack.defer(() => kept.stop(withinMs))
      return kept
    }
    // Processes that end together are stopped together.
    const runAll = (several: readonly Part[], withinMs: number): readonly Kept[] => {
      const kept = several.map(part => keep(part, onlooker))
      parts.push(...kept)
      stack.defer(async () => void (await Promise.all(kept.map(each => each.stop(withinMs)))))
      return kept
    }
    const allReady = (kept: readonly Kept[]) => untilAborted(Promise.all(kept.map(({ ready }) => ready)), signal)

    if (config.databaseUrl) {
      const lock = await lockFolder(dataDir)
      stack.defer(() => lock.release())
    }
    const taken = new Set([port])
    const ours = (words: readonly string[], more: NodeJS.ProcessEnv) =>
      ourProgram(words, { ...common(config), OTEL_SERVICE_NAME: serviceNameOf(config.tracing.service, words.at(-1)!), ...more })
    const database = config.databaseUrl ?? (await startDatabase())
    const secrets = openSharedSecrets(config)
    const events = await startEvents(config, startNats)
    const sandbox = config.demo && !config.sandbox.folder ? await startSandbox() : config.sandbox.folder
    const shared = { DATABASE_URL: database, ...events.environment, ...(sandbox && { SANDBOX_DIR: sandbox }) }
    const prepared = config.demo ? await prepare(ours(['demo'], { ...shared, ...secrets.subgraph('identity'), ...secrets.demo }), onlooker, signal) : null

    const urls = new Map<ListedSlug, string[]>()
    const subgraphs: Part[] = []
    for (const slug of listedSlugs) {
      const own = Number(new URL(routingUrls.get(slug)!).port) - 4000
      for (let at = 0; at < counts.get(slug)!; at++) {
        const given = await portFor(port + own + 10 * at, taken)
        urls.set(slug, [...(urls.get(slug) ?? []), `http://localhost:${given}/graphql`])
        const name = `${slug} ${at + 1}`
        subgraphs.push({ name, ...ours(['subgraph', slug], { ...shared, ...secrets.subgraph(slug), PORT: String(given) }), ready: readyLine })
      }
    }
    const addresses = Object.fromEntries([...urls].map(([slug, list]) => [`${slug.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_URL`, list.join()]))
    const doors = await routerPorts(counts.get('router')!, port, taken)
    const routerUrls = [...new Set(doors)].map(each => `http://localhost:${each}`)
    for (const [at, part] of subgraphs.entries()) subgraphs[at] = { ...part, environment: { ...part.environment, ...addresses, ROUTER_URL: routerUrls.join() } }
    const gathering = gather(doors.length)
    const routers = doors.map(
      (each, at): Part => ({
        name: `router ${at + 1}`,
        ...ours(['router'], {
          ...secrets.router,
          ...addresses,
          ...(config.usage.recording !== 'off' && { DATABASE_URL: database }),
          ...(config.responseCache.store !== 'off' && { DATABASE_URL: database, ...events.environment }),
          ...(sandbox && { SANDBOX_DIR: sandbox }),
          PORT: String(each),
          ...(sharesPort(doors.length) && { SHARE_PORT: '1', KEPT_AS: String(at + 1) }),
        }),
        ...(sharesPort(doors.length) ? { ready: 'told', heard: gathering.heard } : { ready: readyLine }),
      }),
    )
    const { drainMs } = config.streams
    const begun = [...runAll(subgraphs, endMs.subgraphs + drainMs), ...runAll(routers, endMs.routers + drainMs)]
    await allReady(begun)
    writeFacts(dataDir, parts)

    const notices = [...noticesOf(config), ...(prepared?.notices ?? [])]
    const seen = config.environment === 'development'
    for (const notice of seen ? [] : notices) reporter.warn(notice)
    return {
      url: publicUrl,
      banner: welcome({
        url: publicUrl,
        pages: pagesOf(config),
        demo: prepared?.demo ?? null,
        notices,
        database: config.databaseUrl ? 'PostgreSQL at DATABASE_URL' : `embedded PostgreSQL in ${dataDir}`,
        processes: [
          ['Events', events.description],
          [
            'Routers',
            routerUrls.map((url, at) => (routerUrls.length > 1 ? `${at + 1}: ${url}` : doors.length > 1 ? `${doors.length} at ${url}` : url)).join(', '),
          ],
          ...[...urls].map(([slug, list]): [string, string] => [`Subgraph ${slug}`, list.join(', ')]),
        ],
      }),
      facts: { processes: parts.map(({ part }) => part.name), demo: prepared !== null },
      stopWithinMs: () => endMs.all + drainMs,
    }

    async function startDatabase(): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>()
      const heard = (message: unknown) => resolve((message as { databaseUrl: string }).databaseUrl)
      // A restarted process keeps its port, so that its address stays valid.
      const own = await portFor(0, taken)
      const kept = run({ name: 'database', ...ours(['database'], { PORT: String(own) }), ready: readyLine, heard }, endMs.others)
      await allReady([kept])
      return untilAborted(promise, signal)
    }

    async function startNats(): Promise<string> {
      const { part, url } = natsServer({ folder: dataDir, port: await portFor(port + 99, taken), token: secrets.natsToken, environment: common(config) })
      await allReady([run(part, endMs.others)])
      return url
    }

    async function startSandbox(): Promise<string> {
      const { part, folder } = await sandboxPart(config, taken)
      await allReady([run(part, endMs.others)])
      return folder
    }
  })

/** Returns the ports of routers: one for all of them where the system can share it. @param taken ports, to which they are added */
async function routerPorts(count: number, port: number, taken: Set<number>): Promise<readonly number[]> {
  if (sharesPort(count)) return Array<number>(count).fill(port)
  const others: number[] = []
  for (let at = 0; at < count - 1; at++) others.push(await portFor(port + 50 + at, taken))
  return [port, ...others]
}

/** Whether the system distributes connections among several processes that listen on one port. */
const sharesPort = (routers: number): boolean => routers > 1 && process.platform === 'linux'

/**
 * Starts the event transport between processes, and returns the settings with which they find it. @param start starts
 * the NATS server
 */
async function startEvents(config: Config, start: () => Promise<string>): Promise<{ readonly environment: NodeJS.ProcessEnv; readonly description: string }> {
  const { natsUrl, carrier } = config.events
  if (carrier === 'memory') throw new StartError('EVENT_CARRIER: memory reaches one process only: leave it out, or name notify or nats')
  if (natsUrl && carrier !== 'notify') return { environment: { NATS_URL: natsUrl, EVENT_CARRIER: 'nats' }, description: 'NATS at NATS_URL' }
  if (carrier !== 'notify' && hasNatsServer()) {
    const url = await start()
    return { environment: { NATS_URL: url, EVENT_CARRIER: 'nats' }, description: `NATS on ${new URL(url).host}` }
  }
  if (carrier === 'nats') throw new StartError(`EVENT_CARRIER: ${howToGetNats}`)
  return { environment: { NATS_URL: '', EVENT_CARRIER: 'notify' }, description: carrier === 'notify' ? 'PostgreSQL (NOTIFY)' : howToGetNats }
}

/** Creates the demo data in a process that ends afterwards. */
async function prepare(started: ReturnType<typeof ourProgram>, onlooker: ReturnType<typeof createOnlooker>, signal: AbortSignal): Promise<Prepared> {
  const { promise, resolve } = Promise.withResolvers<Prepared>()
  const once = keep(
    {
      name: 'demo data',
      ...started,
      ready: readyLine,
      heard: message => resolve(message as Prepared),
    },
    onlooker,
  )
  try {
    await untilAborted(once.ready, signal)
    return await untilAborted(promise, signal)
  } finally {
    await once.stop(endMs.others)
  }
}

/** Forwards the output of processes, and reports when they end or return. */
function createOnlooker({ config, reporter }: Process, changed: () => void) {
  const eyes = config.environment === 'development'
  return {
    line(part: Role, text: string) {
      if (!eyes) return void standardLines().write(`${text}\n`)
      if (!/^(?:stopping \(|stopped$|subgraph |router before )/.test(text)) standardLines().write(`[${part.name}] ${text}\n`)
    },
    ended(part: Role, by: string) {
      reporter.warn(`${part.name} ended (${by}): it is started again`, { part: part.name, by })
      changed()
    },
    back(part: Role, afterMs: number) {
      reporter.say(`${part.name} is ready again after ${(afterMs / 1000).toFixed(1)} s`, { part: part.name })
      changed()
    },
  }
}

/** Writes which process is which, for people and tools. */
function writeFacts(dataDir: string, parts: readonly Kept[]): void {
  const file = join(dataDir, 'apart.json')
  const facts = { pid: process.pid, processes: parts.map(({ part, pid }) => ({ name: part.name, pid })) }
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * Whether a process of a former start still runs on this folder: after its supervisor was killed, it ends within two
 * seconds.
 */
function formerRuns(dataDir: string): boolean {
  try {
    const { processes } = JSON.parse(readFileSync(join(dataDir, 'apart.json'), 'utf8')) as { processes: readonly { readonly pid: number | null }[] }
    return processes.some(({ pid }) => pid !== null && identify(pid) !== null)
  } catch {
    return false
  }
}
