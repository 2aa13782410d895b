import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { percentile } from '../load/load.ts'
import { createOrder, type Open, openPlatform } from './pay.ts'

/** Pages that are paid on one after the other. */
const pages = 200
/** Pages that are paid on at fixed distances: how many a second, for how many seconds, and before that to warm up. */
const [aSecond, seconds, warmingSeconds] = [50, 10, 5]
/** Pages that are opened together beforehand. */
const together = 8
/** How long the last payment may take to arrive, in ms. */
const lastMs = 60_000

/** An order and the page of the processor on which it is paid. */
interface Page {
  readonly orderId: string
  readonly url: string
}

async function openPage(platform: Open): Promise<Page> {
  const orderId = await createOrder(platform)
  const addresses = { successUrl: 'https://shop.test/thanks', cancelUrl: 'https://shop.test/back' }
  const { createCheckoutSession } = await platform.query<{ createCheckoutSession: { url: string } }>(
    'mutation($input: CreateCheckoutSessionInput!) { createCheckoutSession(input: $input) { url } }',
    { input: { orderId, ...addresses, idempotencyKey: randomUUID() } },
  )
  return { orderId, url: createCheckoutSession.url }
}

async function openPages(platform: Open, count: number): Promise<Page[]> {
  const found: Page[] = []
  while (found.length < count) found.push(...(await Promise.all(Array.from({ length: Math.min(together, count - found.length) }, () => openPage(platform)))))
  return found
}

/** Pays on a page. @returns the moment of the processor's answer to the payer */
async function payOn({ url }: Page): Promise<number> {
  const answer = await fetch(`${url}?sandbox_approve=1`, { redirect: 'manual' })
  await answer.arrayBuffer()
  if (answer.status !== 303) throw new Error(`the processor's page answered ${answer.status}`)
  return performance.now()
}

/** Follows every order of the organization. @returns the moments at which orders were PAID on the stream */
function follow(stack: AsyncDisposableStack, { url, token }: Open): ReadonlyMap<string, number> {
  const client = createClient({
    ...{ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, connectionParams: { authorization: `Bearer ${token}` } },
  })
  stack.defer(() => client.dispose())
  const paidAt = new Map<string, number>()
  const events = client.iterate<{ orderUpdated: { id: string; status: string } }>({ query: 'subscription { orderUpdated { id status } }' })
  void (async () => {
    for await (const { data, errors } of events) {
      if (errors) throw errors[0]
      const order = data?.orderUpdated
      if (order?.status === 'PAID' && !paidAt.has(order.id)) paidAt.set(order.id, performance.now())
    }
  })()
  return paidAt
}

/** Waits until orders are PAID. */
async function allPaid(paidAt: ReadonlyMap<string, number>, orders: readonly Page[]): Promise<void> {
  for (const end = performance.now() + lastMs; ; await wait(5)) {
    const missing = orders.filter(({ orderId }) => !paidAt.has(orderId)).length
    if (missing === 0) return
    if (performance.now() > end) throw new Error(`${missing} of ${orders.length} orders were not PAID on the stream ${lastMs / 1000} s after the last payment`)
  }
}

/** Pays on pages at fixed distances. @returns the moments of the processor's answers, by order */
async function payAtRate(all: readonly Page[]): Promise<ReadonlyMap<string, number>> {
  const begin = performance.now()
  const answers = await Promise.all(
    all.map(async (page, at) => {
      await wait(Math.max(0, begin + (at * 1000) / aSecond - performance.now()))
      return [page.orderId, await payOn(page)] as const
    }),
  )
  return new Map(answers)
}

const line = (title: string, times: readonly number[], cpu: number): string => {
  const sorted = Float64Array.from(times.map(time => Math.max(0, time))).sort()
  const shown = [percentile(sorted, 0.5), percentile(sorted, 0.99), sorted.at(-1)!].map(ms => ms.toFixed(0))
  return `| ${title} | ${shown.join(' | ')} | ${(cpu / times.length).toFixed(1)} |`
}

/** Measures how long a payment on the processor's page takes to reach a subscriber as PAID, by the processor's signed event. */
export async function measurePaid(): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const platform = await openPlatform(stack)
  const paidAt = follow(stack, platform)
  const times = (answers: ReadonlyMap<string, number>) => [...answers].map(([id, at]) => paidAt.get(id)! - at)
  const warming = await openPages(platform, aSecond * warmingSeconds)
  await payAtRate(warming)
  await allPaid(paidAt, warming)
  const [alone, steady] = [await openPages(platform, pages), await openPages(platform, aSecond * seconds)]
  const before = platform.server.cpu()
  const answers = new Map<string, number>()
  for (const page of alone) {
    answers.set(page.orderId, await payOn(page))
    await allPaid(paidAt, [page])
  }
  const between = platform.server.cpu()
  const ofRate = await payAtRate(steady)
  await allPaid(paidAt, steady)
  const after = platform.server.cpu()
  return `Payments on the processor's page: from its answer to the payer until \`orderUpdated\` of the organization says PAID, by the events that the processor sends. CPU is that of the platform's process, the processor's sandbox included; its database is another process on the same core.

| | p50 ms | p99 ms | longest ms | CPU ms a payment |
| --- | --- | --- | --- | --- |
${line(`${pages} one after the other`, times(answers), between - before)}
${line(`${steady.length} at ${aSecond} a second`, times(ofRate), after - between)}`
}
