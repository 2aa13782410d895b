import type { Shop } from './shop.ts'

// biome-ignore lint/suspicious/noExplicitAny: an object of the processor has the shape that it gives it
type Any = any

interface OrderFigures {
  readonly id: string
  readonly status: string
  readonly phase: string
  readonly captured: number
  readonly refunded: number
  readonly disputed: number
  /** What is on its way back, and what of it waits for a second person. */
  readonly returning: number
  readonly waiting: number
  /** The sum of its entries in the ledger's account of the processor. */
  readonly booked: number
  /** How many of its transactions took money. */
  readonly taken: number
  readonly facts: number
}

/** What is wrong between our orders and the processor's payments, in sentences. */
export async function compareOrders(shop: Shop): Promise<string[]> {
  const orders = await shop.rows<OrderFigures>(
    `select o.id, o.status, o.payment_phase as phase, o.captured_minor::int as captured, o.refunded_minor::int as refunded,
       o.disputed_minor::int as disputed, o.returning_minor::int as returning,
       (select coalesce(sum(r.amount_minor), 0)::int from payments.refunds r where r.order_id = o.id and r.status = 'AWAITING_APPROVAL') as waiting,
       (select coalesce(sum(e.amount_minor), 0)::int from payments.ledger_entries e where e.order_id = o.id and e.account = 'processor') as booked,
       (select count(*)::int from payments.transactions t where t.order_id = o.id and t.type in ('PURCHASE', 'CAPTURE') and t.status = 'SUCCEEDED') as taken,
       (select count(*)::int from payments.facts f where f.kind = 'order.paid' and f.receiver = 'launcher' and f.body ->> 'orderId' = o.id::text) as facts
     from payments.orders o`,
  )
  const intents = Map.groupBy(await shop.all('/payment_intents'), ({ metadata }) => metadata.order_id as string | undefined)
  const refunds = Map.groupBy(await shop.all('/refunds'), ({ payment_intent: id }) => id as string)
  const disputes = Map.groupBy(await shop.all('/disputes'), ({ payment_intent: id }) => id as string)
  const wrong: string[] = []
  for (const order of orders) {
    const theirs = intents.get(order.id) ?? []
    const captured = theirs.reduce((sum, { amount_received: amount }) => sum + amount, 0)
    const held = theirs.reduce((sum, { amount_capturable: amount }) => sum + amount, 0)
    const back = theirs.flatMap(({ id }) => refunds.get(id) ?? []).filter(({ status }: Any) => status === 'succeeded')
    const refunded = back.reduce((sum: number, { amount }: Any) => sum + amount, 0)
    const against = theirs.flatMap(({ id }) => disputes.get(id) ?? []).filter(({ status }: Any) => status !== 'won')
    const disputed = against.reduce((sum: number, { amount }: Any) => sum + amount, 0)
    const what = `order ${order.id} (${order.status} ${order.phase})`
    const ours = [order.captured, order.refunded, order.disputed]
    if (ours.join() !== [captured, refunded, disputed].join())
      wrong.push(`${what}: ${ours} were captured, refunded and disputed here, ${[captured, refunded, disputed]} at the processor`)
    if (order.booked !== captured - refunded - disputed)
      wrong.push(`${what}: ${order.booked} in the ledger, ${captured - refunded - disputed} at the processor`)
    if (order.phase !== (held > 0 ? 'AUTHORIZED' : 'NONE')) wrong.push(`${what}: ${held} are held at the processor`)
    const charged = theirs.filter(({ amount_received: amount }) => amount > 0).length
    if (charged > 1) wrong.push(`${what} was charged ${charged} times`)
    if (order.facts !== Math.min(charged, 1)) wrong.push(`${what} was told of as paid ${order.facts} times`)
    if (order.returning !== order.waiting) wrong.push(`${what}: ${order.returning} are still to go back`)
    if (order.taken > 0 !== captured > 0) wrong.push(`${what}: ${order.taken} transactions took money`)
  }
  const known = new Set(orders.map(({ id }) => id))
  for (const [id, found] of intents) if (!id || !known.has(id)) wrong.push(`the processor has ${found.length} payments of ${id}, which is no order`)
  return wrong
}

interface LineFigures {
  readonly batch: string
  readonly line: string
  readonly status: string
  readonly amount: number
  readonly transfer: string | null
}

/** What is wrong between our lines of settlement and the processor's transfers. */
export async function compareTransfers(shop: Shop): Promise<string[]> {
  const lines = await shop.rows<LineFigures>(
    `select l.batch_id as batch, l.line_id as line, l.status, l.amount_minor::int as amount, l.transfer_id as transfer from payments.settlement_lines l`,
  )
  const transfers = Map.groupBy(await shop.all('/transfers'), ({ metadata }) => `${metadata.batch_id} ${metadata.line_id}`)
  const wrong: string[] = []
  for (const { batch, line, status, amount, transfer } of lines) {
    const theirs = transfers.get(`${batch} ${line}`) ?? []
    transfers.delete(`${batch} ${line}`)
    const what = `line ${line} of ${batch} (${status})`
    const isPaid = status === 'SETTLED' || status === 'REVERSED'
    if (theirs.length !== (isPaid ? 1 : 0)) wrong.push(`${what}: the processor has ${theirs.length} transfers`)
    const [own] = theirs
    if (own && (own.amount !== amount || own.id !== transfer)) wrong.push(`${what}: ${own.id} over ${own.amount} there, ${transfer} over ${amount} here`)
    if (own && own.amount_reversed !== (status === 'REVERSED' ? amount : 0)) wrong.push(`${what}: ${own.amount_reversed} came back there`)
    if (status !== 'FAILED' && !isPaid) wrong.push(`${what} is not over`)
  }
  for (const name of transfers.keys()) wrong.push(`the processor has a transfer of ${name}, which is no line`)
  const sums = await shop.rows<{ batch: string; booked: number; moved: number }>(
    `select b.id as batch, (b.settled_total_minor - b.reversed_total_minor)::int as moved,
       (select coalesce(-sum(e.amount_minor), 0)::int from payments.ledger_entries e where e.settlement_batch_id = b.id and e.account = 'processor') as booked
     from payments.settlement_batches b`,
  )
  for (const { batch, booked, moved } of sums) if (booked !== moved) wrong.push(`batch ${batch}: ${booked} in the ledger, ${moved} in its totals`)
  return wrong
}

/** What is wrong with the callbacks that the submitter took: each status once under one id, in its order, and none is missing. */
export async function compareCallbacks(shop: Shop): Promise<string[]> {
  const written = Map.groupBy(
    await shop.rows<{ id: string; batch: string; sequence: number; status: string }>(
      'select id, batch_id as batch, sequence::int, status from payments.settlement_callbacks order by batch_id, sequence',
    ),
    ({ batch }) => batch,
  )
  const taken = ((await shop.control('received?network=settlement')) as Any[])
    .filter(({ path }) => path.endsWith('/callbacks'))
    .map(({ id, text }) => ({ id, ...JSON.parse(text).data }) as { id: string; batchId: string; sequence: number })
  const wrong: string[] = []
  for (const [batch, callbacks] of written) {
    const mine = taken.filter(({ batchId }) => batchId === batch)
    const inOrder = mine.map(({ sequence }) => sequence)
    const each = [...new Set(inOrder)]
    if (each.length !== callbacks.length || each.some((sequence, at) => sequence !== at + 1) || callbacks.some(({ sequence }, at) => sequence !== at + 1))
      wrong.push(`batch ${batch} has ${callbacks.length} callbacks, and its submitter took ${inOrder}`)
    if (inOrder.some((sequence, at) => at > 0 && sequence < inOrder[at - 1]!)) wrong.push(`batch ${batch}: its submitter took ${inOrder}`)
    for (const { id, sequence, status } of callbacks) {
      if (status !== 'DELIVERED') wrong.push(`callback ${sequence} of ${batch} is ${status}`)
      if (mine.some(one => one.sequence === sequence && one.id !== id)) wrong.push(`callback ${sequence} of ${batch} came under another id`)
    }
  }
  return wrong
}
