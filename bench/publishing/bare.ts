/**
 * Program with pg-boss jobs of nothing but one call: `bare.ts DATABASE ORIGIN JOBS`. They are taken like the
 * platform's, 32 at once, four of a group. It reports when they wait, starts on a message, and reports `{ seconds, cpu
 * }` at the end.
 */
import { once } from 'node:events'
import { PgBoss } from 'pg-boss'

const [url, origin, count] = process.argv.slice(2) as [string, string, string]
const jobs = Number(count)
const [queue, most] = ['bare', 32]
const boss = new PgBoss({ connectionString: url, schema: 'bare_jobs', schedule: false, max: 10 })
boss.on('error', error => console.error(error))
await boss.start()
await boss.createQueue(queue, { policy: 'short', heartbeatSeconds: 10 })
await boss.insert(
  queue,
  Array.from({ length: jobs }, (_, n) => ({ data: { text: `bare ${n}` }, singletonKey: `bare ${n}`, group: { id: `group ${n % 50}` } })),
)
process.on('disconnect', () => process.exit())
process.send!('waiting')
await once(process, 'message')

const [begin, before] = [performance.now(), process.cpuUsage()]
const { promise: ended, resolve } = Promise.withResolvers<void>()
let [running, done] = [0, 0]
let looking = false

async function look(): Promise<void> {
  if (looking || running >= most) return
  looking = true
  const found = await boss.fetch<{ text: string }>(queue, { batchSize: most - running, includeMetadata: true, groupConcurrency: 4 })
  looking = false
  running += found.length
  for (const job of found) void run(job)
}

async function run(job: { id: string; data: { text: string } }): Promise<void> {
  const answer = await fetch(`${origin}/2/tweets`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(job.data) })
  await answer.json()
  await boss.complete(queue, job.id)
  running -= 1
  done += 1
  if (done === jobs) resolve()
  else void look()
}

void look()
const looks = setInterval(() => void look(), 100)
await ended
clearInterval(looks)
const { user, system } = process.cpuUsage(before)
process.send!({ seconds: (performance.now() - begin) / 1000, cpu: (user + system) / 1000 })
