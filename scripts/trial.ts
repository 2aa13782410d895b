import { pino } from 'pino'
import { Registry } from 'prom-client'
import { readConfig } from '../config.ts'
import { connect, createOpenPool } from '../db/connect.ts'

import { createMemoryEvents } from '../platform/events.ts'
import { createOpenJobs } from '../platform/jobs/jobs.ts'

import { defineSubgraphs } from '../router/start/assemble.ts'
import { depsOf } from '../router/start/home.ts'
import { listedSlugs } from '../router/start/registry.ts'

// Loads the whole program and defines every subgraph on a database that nobody asks: what is wrong with the program itself, a
// resolver that is missing for example, shows here, before `npm run dev` ends a platform that runs. Ends with 0 when all is well.
await Promise.all([import('../router/start/run.ts'), import('../router/start/mode/embedded.ts'), import('../router/start/doors.ts')])
const url = 'postgres://nobody@localhost:1/nothing'
const log = pino({ level: 'silent' })
const stack = new AsyncDisposableStack()
const openPool = createOpenPool({ url, log })
const keys = { authSecret: 'x'.repeat(32), encryptionKeys: [{ id: 'trial', key: Buffer.alloc(32) }] as const }
const database = {
  sequelize: connect({ url, poolSize: 1, log }).sequelize,
  openPool,
  openJobs: createOpenJobs({ openPool }),
  events: createMemoryEvents(),
  isAlone: true,
}
const deps = depsOf({ config: readConfig(), log, metrics: new Registry(), stack }, { keys, applications: {} }, database)
const nobody = () => Promise.reject(new Error('nobody is asked'))
await defineSubgraphs(listedSlugs, { ...deps, ask: nobody, call: null, carrier: { receivers: [], carry: nobody } }, stack)
process.exit(0)
