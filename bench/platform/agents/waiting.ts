import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { newId } from '../../../platform/ids.ts'
import { createTestDatabase } from '../../../test/kit/database.ts'
import { said } from '../../processes.ts'
import { type Platform, startPlatform } from '../../publishing/platform.ts'

/** Runs that wait for a person or a moment, half of each. */
const waiting = 10_000
/** For how many seconds a platform is watched that has nothing to do. */
const seconds = 30

/** What the platform does in a second: statements, and ms of processor time. */
interface Idle {
  readonly statements: number
  readonly cpu: number
}

async function watch({ server }: Platform): Promise<Idle> {
  const statements = async () => {
    server.child.send('statements')
    return (await said<{ statements: [string, number][] }>(server)).statements.reduce((sum, [, times]) => sum + times, 0)
  }
  await statements()
  const before = server.cpu()
  await wait(seconds * 1_000)
  return { cpu: (server.cpu() - before) / seconds, statements: (await statements()) / seconds }
}

/** Measures what ten thousand waiting runs cost a platform that has nothing to do: statements and processor time a second, without and with them. */
export async function measureWaiting(): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase())
  const folder = mkdtempSync(join(tmpdir(), 'bench-agents-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const key = `bench:${randomBytes(32).toString('base64')}`
  const env = {
    NODE_ENV: 'production',
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    DEMO: '0',
    AUTH_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: key,
  }
  const platform = await startPlatform(stack, { preload: new URL('../../publishing/count.ts', import.meta.url).pathname, env })
  await wait(15_000)
  const without = await watch(platform)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  stack.defer(() => client.end())
  await client.query(
    `with waits as (
       insert into agents.runs (id, organization_id, plan_id, status, trigger, wake_at, started_at, created_at, updated_at, created_by)
         select gen_random_uuid(), $1, $2, case when n % 2 = 0 then 'WAITING_APPROVAL' else 'WAITING_TIMER' end, 'MANUAL',
             now() + interval '20 days' + n * interval '1 second', now(), now(), now(), 'bench' from generate_series(1, $3::int) n
         returning id, status
     )
     insert into agents.approvals (id, organization_id, run_id, step_id, kind, title, risk, arguments, arguments_hash, allowed, on_expiry, expires_at, created_at,
         updated_at, created_by)
       select gen_random_uuid(), $1, id, gen_random_uuid(), 'ACTION', 'May it?', 'LOW', '{}', 'sha256:' || repeat('0', 64), '{APPROVE,REJECT}', 'REJECT',
           now() + interval '20 days', now(), now(), 'bench' from waits where status = 'WAITING_APPROVAL'`,
    [newId(), newId(), waiting],
  )
  await client.query('analyze agents.runs')
  await wait(5_000)
  const withThem = await watch(platform)
  const line = (name: string, { statements, cpu }: Idle) => `| ${name} | ${statements.toFixed(2)} | ${cpu.toFixed(1)} |`
  return `The whole platform in one process with nothing to do, ${seconds} s each.

| | statements a second | CPU ms a second |
| --- | --- | --- |
${line('no runs', without)}
${line(`${waiting.toLocaleString('en')} waiting runs`, withThem)}

Statements a second more: **${(withThem.statements - without.statements).toFixed(2)}**.`
}
