/**
 * Program that runs the platform with a number of organizations, on the run's database: `dashboards-serve.ts PEOPLE
 * ORGANIZATIONS`. It reports its port and people's credentials; when it gets a schedule, it changes organizations'
 * widgets in turn at that rate.
 */
import { setTimeout } from 'node:timers/promises'
import pino from 'pino'
import { createRouter } from '../../router/router.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { openPeople } from './people.ts'

const [people, organizations] = process.argv.slice(2).map(Number) as [number, number]
const unbounded = 1_000_000
const graph = await supergraph({ sandbox: true, quotas: { postsADay: unbounded } })
const worlds: Awaited<ReturnType<typeof seed>>[] = []
for (let count = 0; count < organizations; count++) worlds.push(await seed())
const known = await openPeople(
  people,
  worlds.map(({ owner }) => owner.organizationId!),
)
const router = await createRouter({
  engine: graph.platform.engine,
  authority: known.authority,
  subgraphs: [],
  tables: [],
  host: '127.0.0.1',
  port: 0,
  publicUrl: 'http://localhost',
  environment: 'production',
  clock: known.clock,
  log: pino({ level: 'silent' }),
  readiness: [],
  sockets: { perAddress: unbounded, perViewer: unbounded },
})
const { port } = await router.listen()
let changes = 0
process.on('message', async (asked: 'figures' | { perSecond: number; changes: number }) => {
  if (asked === 'figures') {
    const { upstreams, events, deliveries } = router.live
    return process.send!({ upstreams: upstreams(), events: events(), deliveries: deliveries(), reads: await widgetsRead() })
  }
  const begin = performance.now()
  const made: { readonly organization: number; readonly at: number }[] = []
  while (made.length < asked.changes) {
    await setTimeout(Math.max(0, begin + (made.length * 1000) / asked.perSecond - performance.now()))
    const organization = changes++ % organizations
    made.push({ organization, at: performance.timeOrigin + performance.now() })
    await change(worlds[organization]!)
  }
  process.send!({ changes: made })
})
process.send!({ port, credentials: known.credentials })

function seed() {
  return graph.seed.owner().brand().connection()
}

async function change({ owner, brand }: Awaited<ReturnType<typeof seed>>): Promise<void> {
  const document = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }'
  const input = { brandId: brand.id, platform: 'X', copy: 'It changes', scheduledAt: graph.clock.soon() }
  ;(await graph.execute(document, { input }, { as: owner })).data()
}

/** Returns how often the launcher has read widgets from services. */
async function widgetsRead(): Promise<number> {
  const { values } = await graph.metrics.getSingleMetric('supergraph_operations_total')!.get()
  return values.filter(({ labels }) => labels.operation === 'Widgets').reduce((sum, { value }) => sum + value, 0)
}
