import { pino } from 'pino'
import { connect } from '../../../db/connect.ts'
import { systemClock } from '../../../platform/clock.ts'
import { outboxOf } from '../../../platform/jobs/facts/outbox.ts'
import { makeHeld } from '../../../subgraphs/store/claim.ts'
import { contextsOf } from '../../../subgraphs/store/context.ts'

/** What a process that holds a key is given, as JSON in its first argument. */
export interface HolderTask {
  readonly url: string
  readonly tenantId: string
  readonly key: string
  readonly holdMs: number
}

/** A process of a service on a database: its connections and contexts are its own. Keys are an organization's, but for identity's, which are a person's. */
export function openReplica(url: string, slug: 'payments' | 'identity' = 'payments') {
  const log = pino({ level: 'silent' })
  const { sequelize, close } = connect({ url, poolSize: 5, log })
  const facts = { slug, receivers: [], outbox: outboxOf(slug), log, wake() {} }
  const contexts = contextsOf(slug, {}, {}, { sequelize, clock: systemClock }, facts, slug === 'identity' ? 'caller' : 'organization')
  return { sequelize, contexts, context: contexts.systemContext('replica'), [Symbol.asyncDispose]: close }
}

async function hold({ url, tenantId, key, holdMs }: HolderTask): Promise<void> {
  await using replica = openReplica(url)
  await makeHeld(replica.context, {
    what: 'payOrder',
    once: { idempotencyKey: key },
    tenantId,
    holdMs,
    find: async () => null,
    async make({ id }) {
      process.stdout.write(`at work ${id}\n`)
      return new Promise<never>(() => setInterval(() => {}, 60_000))
    },
  })
}

if (import.meta.main) await hold(JSON.parse(process.argv[2]!) as HolderTask)
