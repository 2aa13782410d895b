import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { createCipher } from '../../platform/cipher.ts'
import { newId } from '../../platform/ids.ts'
import { createTestDatabase } from '../../test/kit/database.ts'
import { percentile } from '../load/load.ts'
import { familyOf, measuredCore, type Running, said, start } from '../processes.ts'
import { startNetwork } from './network.ts'
import { startPlatform } from './platform.ts'

const here = (path: string) => join(import.meta.dirname, path)
/** Number of accounts that receive posts, each of a brand of its own. */
const accounts = 50
/** Number of posts due at once, for the throughput. */
const atOnce = 2_000
/** Time in ms for writing posts before the first of them is due. */
const leadMs = 20_000

interface Asked {
  /** Posts a second, and duration in seconds. */
  readonly rate: number
  readonly seconds: number
}

/**
 * Measures the platform in one process with due posts: at fixed intervals for a while, for their lateness at the
 * network; then many at once, for the throughput, beside as many bare pg-boss jobs with the same call. Throws when a
 * post arrived twice, or not at all.
 */
export async function measureDelivery({ rate, seconds }: Asked): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase())
  const network = stack.use(await startNetwork())
  const key = { id: 'bench', key: randomBytes(32) }
  const folder = mkdtempSync(join(tmpdir(), 'bench-publishing-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { server } = await startPlatform(stack, {
    preload: here('count.ts'),
    env: {
      NODE_ENV: 'production',
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      DEMO: '0',
      AUTH_SECRET: randomBytes(32).toString('hex'),
      ENCRYPTION_KEYS: `${key.id}:${key.key.toString('base64')}`,
      X_CLIENT_ID: 'bench',
      X_CLIENT_SECRET: 'bench',
      X_API_URL: network.origin,
      OUTBOUND_ALLOW: network.origin,
    },
  })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  stack.defer(() => client.end())
  const boss = new PgBoss({ connectionString: database.url, schema: 'publishing_jobs', schedule: false, supervise: false, migrate: false, max: 2 })
  await boss.start()
  stack.defer(() => boss.stop({ graceful: false }))
  const brands = await writeAccounts(client, createCipher([key]))
  // When a PostgreSQL backend ends, its processor time counts for its parent process.
  const postgres = parentOf(Number((await client.query('select pg_backend_pid() as pid')).rows[0].pid))
  const databaseCpu = () => familyOf(postgres).reduce((sum, { cpu }) => sum + cpu, 0)

  const world: World = { client, boss, brands, network, server, databaseCpu }
  await deliver(world, 'warm', { rate, seconds: 3, leadMs: 12_000 })
  const paced = await deliver(world, 'paced', { rate, seconds, leadMs })
  const whole = await deliver(world, 'whole', { rate: atOnce * 1_000, seconds: 0.001, leadMs: 12_000 })
  const quiet = await cpuOf(world, 5)
  await using bare = start(here('bare.ts'), [database.url, network.origin, String(atOnce)], { core: measuredCore })
  await said(bare)
  const before = databaseCpu()
  bare.child.send('begin')
  const { seconds: bareSeconds, cpu: bareCpu } = await said<{ seconds: number; cpu: number }>(bare)
  const bareDatabase = databaseCpu() - before

  const perSecond = { posts: atOnce / whole.seconds, jobs: atOnce / bareSeconds }
  const line = (name: string, cells: readonly (number | string)[]) =>
    `| ${[name, ...cells.map(cell => (typeof cell === 'number' ? cell.toFixed(2) : cell))].join(' | ')} |`
  return `${rate} due posts a second for ${seconds} s, of ${accounts} accounts; a network that answers after 30 ms. Every post came once.

| | lateness p50 ms | p99 ms | most ms | CPU ms a post | of PostgreSQL | statements a post |
| --- | --- | --- | --- | --- | --- | --- |
${line(`${rate} a second`, [paced.p50, paced.p99, paced.most, paced.cpu, paced.databaseCpu, paced.statements])}
${line(`${atOnce} at once`, ['', '', '', whole.cpu, whole.databaseCpu, whole.statements])}

The platform with nothing to send takes ${quiet.toFixed(0)} ms of its core a second.

| ${atOnce} at once | a second | CPU ms each | of PostgreSQL |
| --- | --- | --- | --- |
${line('posts', [perSecond.posts, whole.cpu, whole.databaseCpu])}
${line('bare jobs of pg-boss, the same call', [perSecond.jobs, bareCpu / atOnce, bareDatabase / atOnce])}

Throughput, posts ÷ bare jobs: **${(perSecond.posts / perSecond.jobs).toFixed(2)}**. Statements of ${atOnce} posts at once, each by how often a post costs it:

${whole.texts.map(([text, times]) => `- ${times.toFixed(2)} \`${text}\``).join('\n')}`
}

interface World {
  readonly client: pg.Client
  readonly boss: PgBoss
  readonly brands: readonly { readonly id: string; readonly organizationId: string }[]
  readonly network: Awaited<ReturnType<typeof startNetwork>>
  readonly server: Running
  readonly databaseCpu: () => number
}

/** Writes posts that are due from a moment on, waits until all are published, and reports their cost. */
async function deliver(world: World, name: string, { rate, seconds, leadMs }: Asked & { readonly leadMs: number }) {
  const { client, boss, brands, network, server, databaseCpu } = world
  const count = Math.round(rate * seconds)
  const begin = Date.now() + leadMs
  const due = (n: number) => new Date(begin + (n * 1000) / rate)
  const text = (n: number) => `${name} ${n}: a post of some length, as people write them`
  const rows = Array.from({ length: count }, (_, n) => ({ id: newId(), brandId: brands[n % brands.length]!.id, at: due(n), text: text(n) }))
  await client.query(
    `insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, status, scheduled_at, created_at, updated_at, created_by)
     select t."brandId", t.id, t.id, 1, 'X', t.text, 'SCHEDULED', t.at, now(), now(), 'bench'
     from jsonb_to_recordset($1::jsonb) as t (id uuid, "brandId" uuid, at timestamptz, text text)`,
    [JSON.stringify(rows)],
  )
  for (let from = 0; from < count; from += 500)
    await boss.insert(
      'deliver-post',
      rows.slice(from, from + 500).map(({ id, brandId, at }) => ({
        data: { brandId, postId: id, platform: 'X' },
        singletonKey: id,
        startAfter: at,
        group: { id: `${brandId}:X` },
      })),
    )
  if (Date.now() > begin - 300) throw new Error('the posts were not written before the first of them was due')
  await wait(begin - Date.now())
  await statementsOf(server)
  const [cpu, database, from] = [server.cpu(), databaseCpu(), performance.now()]
  for (const end = performance.now() + seconds * 1000 + 120_000; ; await wait(50)) {
    const [{ open }] = (await client.query("select count(*)::int as open from publishing.posts where status <> 'PUBLISHED'")).rows as [{ open: number }]
    if (open === 0) break
    if (performance.now() > end) throw new Error(`${open} posts are not published two minutes after the last was due`)
    if (open > 200) await wait(200)
  }
  const took = (performance.now() - from) / 1000
  const [cpuAfter, databaseAfter] = [server.cpu(), databaseCpu()]
  const statements = await statementsOf(server)
  const lateness = rows.map((row, n) => {
    const came = network.received.get(text(n)) ?? []
    if (came.length !== 1) throw new Error(`post ${n} came ${came.length} times`)
    return came[0]! - row.at.getTime()
  })
  const sorted = Float64Array.from(lateness).sort()
  const texts = statements
    .map(([text, times]) => [text, times / count] as const)
    .filter(([, times]) => times >= 0.05)
    .sort(([, one], [, other]) => other - one)
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    most: sorted.at(-1)!,
    seconds: took,
    cpu: (cpuAfter - cpu) / count,
    databaseCpu: (databaseAfter - database) / count,
    statements: statements.reduce((sum, [, times]) => sum + times, 0) / count,
    texts,
  }
}

/** Returns the platform's statements since the last call, by their beginning. */
async function statementsOf(server: Running): Promise<readonly (readonly [string, number])[]> {
  server.child.send('statements')
  return (await said<{ statements: [string, number][] }>(server)).statements
}

/** Returns the processor time in ms of a second while nothing is due. */
async function cpuOf({ server }: World, seconds: number): Promise<number> {
  const before = server.cpu()
  await wait(seconds * 1000)
  return (server.cpu() - before) / seconds
}

/** Writes brands of an organization, each with an account of X whose token does not expire. */
async function writeAccounts(client: pg.Client, cipher: ReturnType<typeof createCipher>) {
  const organizationId = newId()
  const brands = Array.from({ length: accounts }, () => ({ id: newId(), organizationId, connectionId: newId() }))
  for (const [n, { id, connectionId }] of brands.entries()) {
    await client.query(
      `insert into publishing.brands (id, organization_id, name, created_at, updated_at, created_by) values ($1, $2, $3, now(), now(), 'bench')`,
      [id, organizationId, `Brand ${n}`],
    )
    await client.query(
      `insert into publishing.connections (brand_id, id, platform, author_id, external_account_id, account_name, access_token, connected_at, created_at, updated_at, created_by)
       values ($1, $2, 'X', $3, $4, 'Account', $5, now(), now(), now(), 'bench')`,
      [id, connectionId, newId(), `account-${n}`, cipher.seal('token', `publishing.connection:${connectionId}:access`)],
    )
  }
  return brands
}

/** Returns the parent of a process. */
function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
