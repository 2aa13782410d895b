import { mkdtempSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { onTestFinished } from 'vitest'
import type { Config } from '../../../config.ts'
import { openSource } from '../../../router/start/mode/source/open.ts'
import type { Process } from '../../../router/start/startup.ts'
import { runFolderVariable } from '../../kit/run/folder.ts'

export const newFolder = () => mkdtempSync(join(process.env[runFolderVariable]!, 'source-'))

/** A server of the test's own on a free port. */
export async function serve(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>(resolve => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  onTestFinished(stop)
  return { origin: `http://127.0.0.1:${port}`, port, stop }
}

/** A place that publishes one text, as a CDN does: with an ETag, and 304 to who has it. */
export async function published(first: string) {
  const state = { sdl: first, tag: '"1"' as string | null, status: 200, asked: [] as IncomingMessage['headers'][] }
  const server = await serve((request, response) => {
    state.asked.push(request.headers)
    if (state.status !== 200) return void response.writeHead(state.status).end('<html>')
    if (state.tag && request.headers['if-none-match'] === state.tag) return void response.writeHead(304).end()
    response.writeHead(200, { 'content-type': 'text/plain', ...(state.tag && { etag: state.tag }) }).end(state.sdl)
  })
  return { ...server, state, url: `${server.origin}/artifacts/v1/target/supergraph` }
}

type Settings = Partial<Config['supergraphs']>

/** Opens a source with settings of the test's own, which is asked as often as the test can stand. */
export function open(named: string, settings: Settings = {}) {
  const lines: string[] = []
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const metrics = new Registry()
  const supergraphs: Config['supergraphs'] = {
    source: null,
    pollMs: 20,
    folder: newFolder(),
    headers: {},
    hiveKey: null,
    apolloKey: null,
    apolloGraph: null,
    endpoints: ['http://127.0.0.1:9'],
    s3: { endpoint: 'http://127.0.0.1:9', region: 'eu-central-1', accessKeyId: '', secretAccessKey: '', pathStyle: true },
    ...settings,
  }
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const source = openSource({ config: { supergraphs, calledFrom: supergraphs.folder } as Config, log, metrics, stack } as unknown as Process, named)
  const changes: string[] = []
  let isUsable = (_: string) => true
  return {
    source,
    lines,
    changes,
    /** Follows the source; what the test finds usable is kept. */
    follow(usable = isUsable) {
      isUsable = usable
      const following = source.follow(async sdl => {
        changes.push(sdl)
        if (isUsable(sdl)) source.keep(sdl)
        return isUsable(sdl)
      })
      onTestFinished(following.stop)
      return following
    },
    /** Polls by outcome. */
    async polls(): Promise<Record<string, number>> {
      const text = await metrics.metrics()
      return Object.fromEntries(
        [...text.matchAll(/^supergraph_source_polls_total\{outcome="(\w+)"\} (\d+)$/gm)].map(([, outcome, count]) => [outcome!, Number(count)]),
      )
    },
    async age(): Promise<number> {
      return Number(/^supergraph_source_age_seconds ([\d.]+)$/m.exec(await metrics.metrics())![1])
    },
  }
}
