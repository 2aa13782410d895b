/**
 * Program that runs the platform with its router on a free loopback port, reported to its parent, with a person for
 * each sign-in. Callers have separate addresses (`x-forwarded-for`), as in reality.
 */
import { createRouter } from '../../../router/router.ts'
import { supergraph } from '../../../test/kit/supergraph.ts'

const password = 'a long enough password'
const people = Array.from({ length: 50 }, (_, at) => `person-${at}@bench.test`)
const graph = await supergraph()
const { platform, clock, job, publicUrl } = graph
await platform.identity.provision({
  password,
  people: people.map(email => ({ email, name: 'Bench' })),
  organizations: [{ slug: 'bench', name: 'Bench', members: people.map(email => ({ email, roles: ['owner'] as const })) }],
  keys: [],
})
const router = await createRouter({
  engine: platform.engine,
  authority: platform.identity.authority,
  subgraphs: platform.subgraphs,
  host: '127.0.0.1',
  port: 0,
  publicUrl,
  environment: 'production',
  trustProxy: true,
  clock,
  log: job.log,
  readiness: [],
})
const { port } = await router.listen()
process.on('disconnect', () => process.exit())
process.send?.({ url: `http://127.0.0.1:${port}`, people, password, host: new URL(publicUrl).host })
