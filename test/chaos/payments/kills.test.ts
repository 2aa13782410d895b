import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../../kit/launch.ts'
import { ready, type Worker } from '../apart.ts'
import { type Fault, randomNumbers } from '../storm.ts'
import { compareCallbacks, compareOrders, compareTransfers } from './books.ts'
import { openShop, type Shop } from './shop.ts'
import { openTrade, type Trade } from './shoppers.ts'

const wanted = Boolean(process.env.CHAOS)
if (!wanted) console.warn('kills of payments are left out, they take some minutes: npm run test:chaos')
/** What moments, points and purchases are drawn from. */
const seed = Number(process.env.CHAOS_SEED ?? 31)

/** Where processes end by themselves, one each. */
const points = [
  ...['key-held', 'key-work-done', 'intention-recorded', 'processor-answered', 'outcome-recorded', 'fact-written'],
  ...['event-stored', 'event-taken', 'event-applied', 'batch-submitted', 'batch-taken'],
  ...['transfer-taken', 'transfer-answered', 'transfer-recorded', 'webhook-claimed', 'webhook-answered', 'callback-settled'],
] as const
const kills = 30
/** How long a process that is to end at a point may live, in ms: what passes the point is drawn, and the other process may do it. */
const doomedMs = 12_000

/** What goes wrong at the processor. */
const faults: readonly Fault[] = [
  { fault: 'status', status: 500 },
  { fault: 'status-after-accept', status: 503 },
  { fault: 'status-after-accept', status: 500 },
  { fault: 'status', status: 429 },
  { fault: 'timeout-after-accept' },
  { fault: 'accept-then-reset' },
  { fault: 'slow', delayMs: 2_000, times: 3 },
  { fault: 'malformed' },
  { fault: 'wrong-type' },
  { fault: 'webhook-lost', times: 2 },
  { fault: 'webhook-twice', times: 2 },
  { fault: 'webhook-late', delayMs: 3_000, times: 2 },
]

/** Has the processor fail in ways that are drawn, one after the other. @returns what ends that */
function goWrong(shop: Shop, random: () => number): () => Promise<void> {
  let goesOn = true
  const over = (async () => {
    while (goesOn) {
      if (random() < 0.4) await shop.control('faults', { network: 'stripe', ...faults[Math.floor(random() * faults.length)]! })
      await wait(700)
    }
    await shop.control('faults', { network: 'stripe', fault: 'none' })
  })()
  return async () => {
    goesOn = false
    await over
  }
}

/** Waits until a worker takes requests, or has ended before. */
const isUp = ({ process }: Worker) =>
  process.printed(ready).then(
    () => true,
    () => false,
  )

async function kill({ process }: Worker): Promise<void> {
  process.child.kill('SIGKILL')
  expect(await process.ended).toBe('SIGKILL')
}

/** Kills workers at moments that are drawn, and has some end at a named point. @returns how many died, and at which points */
async function killAgainAndAgain(shop: Shop, random: () => number): Promise<{ readonly died: number; readonly diedAt: ReadonlySet<string> }> {
  const diedAt = new Set<string>()
  const moments = [...points, ...Array<null>(kills - points.length).fill(null)]
  let died = 0
  for (const { point } of moments.map(each => ({ point: each, place: random() })).sort((one, other) => one.place - other.place)) {
    const worker = shop.workers[Math.floor(random() * shop.workers.length)]!
    if (point !== null) {
      // What ends in its place is killed at a moment too.
      await kill(worker)
      died += 1
      const doomed = worker.begin(point)
      await isUp(worker)
      if (await Promise.race([doomed.ended.then(() => true), wait(doomedMs, false)])) diedAt.add(point)
    } else if (random() < 0.25) await wait(random() * 1_500)
    else {
      await isUp(worker)
      await wait(random() * 2_500)
    }
    await kill(worker)
    died += 1
    worker.begin()
  }
  return { died, diedAt }
}

/** Lets the time pass until the processor is asked again about what nobody knows, so that nobody waits for it here. */
const passTime = (shop: Shop) =>
  shop.rows(
    `with unknown as (update payments.transactions set next_attempt_at = now() where status = 'UNKNOWN' and next_attempt_at > now() + interval '40 seconds' returning settlement_batch_id),
      sessions as (update payments.checkout_sessions set next_look_at = now() where next_look_at > now() + interval '40 seconds'),
      events as (update payments.webhook_events set next_attempt_at = now() where status = 'FAILED' and next_attempt_at > now() + interval '40 seconds')
     update payments.settlement_batches set next_work_at = now() where id in (select settlement_batch_id from unknown)`,
  )

const undelivered = async (shop: Shop): Promise<number> =>
  (await shop.rows<{ n: number }>(`select count(*)::int as n from payments.settlement_callbacks where status = 'PENDING'`))[0]!.n

/** How much is not over: what the processor is asked about, events that are not taken in, and batches on their way. */
async function underway(shop: Shop): Promise<readonly number[]> {
  const [left] = await shop.rows<Record<string, number>>(
    `select (select count(*) from payments.transactions where next_attempt_at is not null)::int as transactions,
       (select count(*) from payments.webhook_events where next_attempt_at is not null)::int as events,
       (select count(*) from payments.checkout_sessions where status = 'OPEN' and processor_id is null)::int as sessions,
       (select count(*) from payments.settlement_batches where next_work_at is not null)::int as batches`,
  )
  return Object.values(left!)
}

/** Brings sessions whose page was paid to their end, as their next look would. */
const paidPages = async (shop: Shop): Promise<boolean> => {
  const open = await shop.rows<{ processor_id: string }>(`select processor_id from payments.checkout_sessions where status = 'OPEN'`)
  const paid = new Set((await shop.all('/checkout/sessions')).filter(({ status }) => status === 'complete').map(({ id }) => id))
  return open.every(({ processor_id: id }) => !paid.has(id))
}

function report(trade: Trade, facts: Record<string, unknown>): void {
  console.log(JSON.stringify({ seed, orders: trade.orderIds.length, batches: trade.batchIds.length, ...facts }))
  console.log(
    [...trade.counts]
      .sort()
      .map(([what, times]) => `${what}: ${times}`)
      .join('; '),
  )
}

test.runIf(wanted)(
  'kill -9 of two processes of payments again and again, while the processor fails: the books are equal, nothing is doubled, and callbacks come in order',
  { timeout: 900_000 },
  async () => {
    await using shop = await openShop(2)
    const random = randomNumbers(seed)
    const began = performance.now()
    const trade = openTrade(shop, randomNumbers(seed + 1), 3)
    const slowPolling = goWrong(shop, randomNumbers(seed + 2))
    const { died, diedAt } = await killAgainAndAgain(shop, random)
    const killedMs = performance.now() - began
    await slowPolling()
    await Promise.all(shop.workers.map(isUp))
    const restarted = performance.now()
    const seconds = () => Number(((performance.now() - restarted) / 1000).toFixed(1))
    await trade.end()
    await passTime(shop)
    await until('every callback of settlement is delivered', async () => (await underway(shop))[3] === 0 && (await undelivered(shop)) === 0, 180)
    const delivered = seconds()
    await until(
      'nothing is under way',
      async () => {
        if ((await underway(shop)).every(count => count === 0) && (await paidPages(shop))) return true
        await passTime(shop)
        await wait(500)
      },
      180,
    )
    const { ledgerVerification } = await shop.owner.query<{ ledgerVerification: { ok: boolean; entries: number } }>('{ ledgerVerification { ok entries } }')
    const missed = points.filter(point => !diedAt.has(point))
    report(trade, { died, killedSeconds: Math.round(killedMs / 1000), missed, delivered, rested: seconds(), ledger: ledgerVerification })
    expect([...(await compareOrders(shop)), ...(await compareTransfers(shop)), ...(await compareCallbacks(shop))]).toEqual([])
    expect(ledgerVerification.ok).toBe(true)
    expect(delivered).toBeLessThan(60)
    expect(missed.length).toBeLessThan(points.length / 2)
  },
)
