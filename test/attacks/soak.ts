/**
 * `npm run soak`: the platform as it runs in production, asked for half an hour by people who come and go, and what it holds meanwhile.
 * Ends by itself, with 1 when something was not answered or what is held has grown.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lockFolder } from '../../db/lock.ts'
import { createAsker, type Follower, follow, forms } from '../kit/follower.ts'
import { newTestFolder, removeRunFolder, runFolderVariable } from '../kit/run/folder.ts'
import { type Held, startWorld } from './target.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    minutes: { type: 'string', default: '30' },
    followers: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log('npm run soak -- [--requests 200000] [--minutes 30] [--followers 60]')
  process.exit()
}
const [requests, minutes, crowd] = [values.requests, values.minutes, values.followers].map(Number) as [number, number, number]
const lastMs = minutes * 60_000

const folder = newTestFolder()
// Other test runs remove folders that nobody locks.
await lockFolder(folder)
process.env[runFolderVariable] = folder
process.once('exit', () => removeRunFolder(folder))

await using world = await startWorld({ LOG_LEVEL: 'warn', SUBSCRIPTIONS_PER_CALLER: String(2 * crowd + 10) })
const caller = { url: world.url, key: await world.key('soak') }
const asker = createAsker(caller, 8)
const query = `query Soak { brand(id: "${world.brandId}") { name organization { name } } posts(first: 5) { nodes { copy status brand { name } } } }`
const stream = `subscription Soaked { postStatusChanged(brandId: "${world.brandId}") { id status copy brand { name organization { name } } } }`
const [{ text: expected }] = [await asker.ask(query)]
if (expected.includes('"errors"')) throw new Error(`it cannot be asked: ${expected}`)

const began = performance.now()
const overAt = began + lastMs
const counts = { answered: 0, wrong: 0, came: 0, left: 0, cut: 0, told: 0, deaf: 0, changes: 0 }
let slowest = 0

async function askOn(): Promise<void> {
  let under = 0
  for (let sent = 0; sent < requests && performance.now() < overAt; ) {
    const due = Math.min(requests, Math.ceil(((performance.now() - began) * requests) / (lastMs * 0.98)))
    for (; sent < due && under < 200; sent += 1) {
      under += 1
      const at = performance.now()
      void asker.ask(query).then(({ status, text }) => {
        under -= 1
        counts.answered += 1
        slowest = Math.max(slowest, performance.now() - at)
        if (status !== 200 || text.includes('"errors"')) counts.wrong += 1
      })
    }
    await wait(20)
  }
  while (under > 0) await wait(20)
}

/** Something to tell, once a second. */
async function changeOn(): Promise<void> {
  for (; performance.now() < overAt; await wait(1000)) {
    const input = { id: world.postIds[0]!, copy: `changed ${counts.changes}` }
    const { status, text } = await asker.ask('mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }', { input })
    counts.changes += 1
    if (status !== 200 || text.includes('"errors"')) counts.wrong += 1
  }
}

/** One after the other, each for some seconds, by each form in turn; every other one leaves without a word. */
async function comeAndGo(seat: number): Promise<void> {
  for (let turn = seat; performance.now() < overAt; turn += 1) {
    let follower: Follower
    try {
      follower = await follow(caller, forms[turn % forms.length]!, stream)
    } catch {
      counts.cut += 1
      await wait(1000)
      continue
    }
    counts.came += 1
    const stays = 2000 + Math.random() * 20_000
    await wait(Math.min(stays, Math.max(0, overAt - performance.now())))
    counts.told += follower.told
    if (follower.isCut) counts.cut += 1
    // A client that stayed through three changes has received at least one.
    else if (follower.told === 0 && stays > 5000 && performance.now() < overAt) counts.deaf += 1
    await follower.leave(turn % 2 === 0)
    counts.left += 1
  }
}

const samples: { readonly minute: number; readonly held: Held }[] = []
const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
function tell(name: string, held: Held): void {
  console.log(
    [
      name,
      megabytes(held.heap),
      megabytes(held.rss),
      held.sockets,
      held.webSockets,
      held.subscriptions,
      held.upstreams,
      held.watched,
      held.timers,
      counts.answered,
      counts.came,
    ].join(' | '),
  )
}
console.log('when | heap MB | RSS MB | sockets | WebSockets | subscriptions | upstreams | watched | timers | answered | came')
async function look(name: string): Promise<Held> {
  const held = await world.held()
  tell(name, held)
  return held
}
await look('at the start')

async function lookOn(): Promise<void> {
  const every = lastMs / 30
  for (let at = 1; at <= 29; at += 1) {
    await wait(Math.max(0, began + at * every - performance.now()))
    samples.push({ minute: (at * every) / 60_000, held: await look(`${((at * every) / 60_000).toFixed(1)} min`) })
  }
}

await Promise.all([askOn(), changeOn(), lookOn(), ...Array.from({ length: crowd }, (_, seat) => comeAndGo(seat))])
// Kept-alive connections are closed with this one.
asker.close()
let after = await look('when all had left')
for (let looks = 0; looks < 30 && (after.subscriptions > 0 || after.webSockets > 0 || after.upstreams > 0); looks += 1) {
  await wait(1000)
  after = await world.held()
}
tell('a moment later', after)

const mean = (part: typeof samples) => part.reduce((sum, { held }) => sum + held.heap, 0) / part.length
const [second, third] = [mean(samples.slice(10, 20)), mean(samples.slice(20))]
const growth = third - second
const seconds = (performance.now() - began) / 1000
console.log(
  `\n${counts.answered} requests in ${Math.round(seconds)} s, ${counts.wrong} wrong, the slowest ${Math.round(slowest)} ms; ${counts.changes} changes`,
)
console.log(`${counts.came} subscribers came and ${counts.left} left, ${counts.cut} were cut, ${counts.deaf} heard nothing; ${counts.told} events told`)
console.log(`heap of the second third ${megabytes(second)} MB, of the last ${megabytes(third)} MB`)
const complaints = [
  ...(counts.answered < requests ? [`${requests - counts.answered} requests were not asked in time`] : []),
  ...(counts.wrong > 0 ? ['answers were wrong'] : []),
  ...(counts.cut > 0 ? ['subscribers were cut'] : []),
  ...(counts.deaf > 0 ? ['subscribers heard nothing'] : []),
  ...(growth > Math.max(3 * 1024 * 1024, 0.03 * second) ? [`the heap has grown by ${megabytes(growth)} MB`] : []),
  ...(after.subscriptions + after.webSockets + after.upstreams + after.watched > 0 ? ['somebody is still served who has left'] : []),
]
for (const complaint of complaints) console.log(`NOT FLAT: ${complaint}`)
if (complaints.length === 0) console.log('flat')
process.exitCode = complaints.length > 0 ? 1 : 0
