/**
 * Program for workload 2 at a stock gateway: @apollo/gateway before the subgraphs, each in a process on the same core,
 * called over HTTP by its own data source. Arguments: the database's URL, the viewer as JSON, node options of the
 * subgraphs' processes. A router that answers the launcher's calls uses the other core, uncounted.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway'
import { ApolloServer, HeaderMap } from '@apollo/server'
import { systemClock } from '../../platform/clock.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { forOperation, sealHeader } from '../../subgraphs/seal.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { freePort, loadCore, measuredCore, start } from '../processes.ts'
import { takeTurns } from '../turns.mjs'
import { crossing, withoutIds } from './query.ts'

const here = (path: string) => new URL(path, import.meta.url).pathname
const [, , databaseUrl, viewerText, ...nodeOptions] = process.argv
const viewer: Viewer = JSON.parse(viewerText!)
const slugs = listedSlugs

const key = { id: 'bench', key: randomBytes(32) }
const half = publicHalf(key)
const [routerPort, ...ports] = await Promise.all([freePort(), ...slugs.map(() => freePort())])
const urls = new Map<string, string>(slugs.map((slug, index) => [slug, `http://127.0.0.1:${ports[index]}/graphql`]))
const common = { PUBLIC_URL: `http://localhost:${routerPort}`, LOG_LEVEL: 'fatal' }
const main = here('../../router/main.ts')
const subgraphs = slugs.map((slug, index) =>
  start(main, ['subgraph', slug, '--port', String(ports[index])], {
    core: measuredCore,
    nodeOptions,
    silent: true,
    env: {
      ...common,
      DATABASE_URL: databaseUrl!,
      AUTH_SECRET: randomBytes(32).toString('hex'),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      SEAL_PUBLIC_KEYS: `${half.id}:${half.key.toString('base64')}`,
      ROUTER_URL: `http://127.0.0.1:${routerPort}`,
    },
  }),
)
const router = start(main, ['router', '--port', String(routerPort)], {
  core: loadCore,
  silent: true,
  env: {
    ...common,
    SEAL_PRIVATE_KEY: `${key.id}:${key.key.toString('base64')}`,
    ...Object.fromEntries([...urls].map(([slug, url]) => [`${slug.toUpperCase()}_URL`, url])),
  },
})
process.on('disconnect', () => {
  for (const { child } of [...subgraphs, router]) child.kill()
})

const seal = createSeal(key, systemClock)
class SealedDataSource extends RemoteGraphQLDataSource {
  readonly #subgraph: string
  constructor(subgraph: string, url: string) {
    super({ url })
    this.#subgraph = subgraph
  }
  override async willSendRequest({ request }: Parameters<NonNullable<RemoteGraphQLDataSource['willSendRequest']>>[0]) {
    request.http?.headers.set(sealHeader, await seal(viewer, this.#subgraph, forOperation))
  }
}
const gateway = new ApolloGateway({
  supergraphSdl: readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8')).stripped(),
  buildService: ({ name }) => new SealedDataSource(name, urls.get(name)!),
})
const server = new ApolloServer({ gateway, introspection: true, csrfPrevention: false, stopOnTerminationSignals: false })
await server.start()

async function work(): Promise<string> {
  const headers = new HeaderMap([['content-type', 'application/json']])
  const { body } = await server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: 'POST', headers, search: '', body: { query: crossing } },
    context: async () => ({}),
  })
  if (body.kind !== 'complete') throw new Error('answers come whole')
  return body.string
}

await Promise.all([...urls.values(), common.PUBLIC_URL].map(listening))
await takeTurns(work, { answer: withoutIds(await work()), others: () => subgraphs.reduce((sum, { cpu }) => sum + cpu() * 1000, 0) })

async function listening(url: string): Promise<void> {
  for (const end = Date.now() + 60_000; ; ) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return
    if (Date.now() > end) throw new Error(`${url} did not come up within a minute`)
    await new Promise(done => setTimeout(done, 100))
  }
}
