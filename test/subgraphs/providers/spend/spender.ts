import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { connect } from '../../../../db/connect.ts'
import { armCrash } from '../../../../platform/crash.ts'
import { createMemoryEvents } from '../../../../platform/events.ts'
import { outboxOf } from '../../../../platform/jobs/facts/outbox.ts'
import { openSpending } from '../../../../subgraphs/providers/engines/spend/open.ts'
import { contextsOf } from '../../../../subgraphs/store/context.ts'

/** What a process that spends is told, as JSON in its first argument. */
export interface SpenderTask {
  readonly url: string
  readonly organizationId: string
  readonly calls: number
  /** What each may cost at most, in micro-dollars; it costs as much, or by chance less. */
  readonly upper: number
  readonly isExact: boolean
  /** Whether a call waits for the one before. */
  readonly inTurn?: boolean
  /** For how long a call runs, in ms. */
  readonly lastsMs: number
  /** Where it ends itself, if anywhere. */
  readonly crashAt: string | null
  /** By how much its clock is ahead, in ms. */
  readonly aheadMs?: number
}

/** The record of calls on a database, as a process of its own has it. */
export function openSpender({ url, aheadMs = 0 }: Pick<SpenderTask, 'url' | 'aheadMs'>, platformMicros: bigint | null = null) {
  const log = pino({ level: 'silent' })
  const { sequelize, close } = connect({ url, poolSize: 5, log })
  const clock = { now: () => new Date(Date.now() + aheadMs) }
  const telling = { slug: 'providers' as const, receivers: [], outbox: outboxOf('providers'), log, wake() {} }
  const contexts = contextsOf('providers', {}, {}, { sequelize, clock }, telling)
  const foundation = { sequelize, clock, events: createMemoryEvents(), publicUrl: 'http://localhost' }
  const spending = openSpending(foundation, {
    prices: { email: 100, payment: 100, videoUnit: 10 },
    job: () => contexts.systemContext('spender'),
    log,
    platformMicros,
    platformOrganization: { find: async () => null },
  })
  return {
    spending,
    async [Symbol.asyncDispose]() {
      await spending.stop()
      await close()
    },
  }
}

async function spend(task: SpenderTask): Promise<void> {
  await using opened = openSpender(task)
  armCrash(task.crashAt)
  const caller = { organizationId: task.organizationId, userId: null, appId: 'app_test' }
  const candidates = [{ model: 'test/model', provider: 'test', upperMicros: BigInt(task.upper) }]
  let before: Promise<unknown> = Promise.resolve()
  const all: Promise<unknown>[] = []
  const one = async () => {
    const open = await opened.spending.calls
      .begin(caller, { family: 'AI', operation: 'chat.completions', requestedModel: null, candidates })
      .catch((error: { extensions?: { code: string } }) => {
        if (error.extensions?.code !== 'BUDGET_EXCEEDED') throw error
        return null
      })
    if (!open) return void process.stdout.write('refused\n')
    process.stdout.write(`begun ${open.id}\n`)
    await wait(Math.random() * task.lastsMs)
    const cost = task.isExact ? task.upper : Math.floor(Math.random() * (task.upper + 1))
    await open.settle({ status: 'SUCCEEDED', model: 'test/model', provider: 'test', costMicros: BigInt(cost) })
    process.stdout.write(`settled ${open.id} ${cost}\n`)
  }
  for (let count = 0; count < task.calls; count += 1) {
    before = task.inTurn ? before.then(one) : one()
    all.push(before)
  }
  await Promise.all(all)
}

if (import.meta.main) await spend(JSON.parse(process.argv[2]!) as SpenderTask)
