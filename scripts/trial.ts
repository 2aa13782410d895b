import { pino } from 'pino'
import { readConfig } from '../config.ts'
import { connect, createOpenPool } from '../db/connect.ts'
import { createCipher } from '../platform/cipher.ts'
import { systemClock } from '../platform/clock.ts'
import { createMemoryEvents } from '../platform/events.ts'
import { createOpenJobs } from '../platform/jobs.ts'
import { createOutbound } from '../platform/outbound.ts'
import { hostsOf } from '../router/hosts.ts'
import { defineSubgraphs } from '../router/start/compose.ts'
import { listedSlugs } from '../router/start/registry.ts'

// Loads the whole program and defines every subgraph on a database that nobody asks: what is wrong with the program itself, a
// resolver that is missing for example, shows here, before `npm run dev` ends a platform that runs. Ends with 0 when all is well.
await Promise.all([
  import('../router/start/run.ts'),
  import('../router/start/mode/embedded.ts'),
  import('../router/start/home.ts'),
  import('../router/start/doors.ts'),
])
const config = readConfig()
const url = 'postgres://nobody@localhost:1/nothing'
const log = pino({ level: 'silent' })
const openPool = createOpenPool({ url, log })
const ground = {
  ...config,
  authSecret: 'x'.repeat(32),
  hosts: hostsOf(config),
  x: null,
  sequelize: connect({ url, poolSize: 1, log }).sequelize,
  openPool,
  openJobs: createOpenJobs({ openPool }),
  events: createMemoryEvents(),
  ask: () => Promise.reject(new Error('nobody is asked')),
  clock: systemClock,
  cipher: createCipher([{ id: 'trial', key: Buffer.alloc(32) }]),
  outbound: createOutbound([]),
  log,
}
await defineSubgraphs(listedSlugs, ground, new AsyncDisposableStack())
process.exit(0)
