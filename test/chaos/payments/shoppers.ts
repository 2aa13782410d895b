import { setTimeout as wait } from 'node:timers/promises'
import type { Shop } from './shop.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that was asked for
type Any = any

/** What a caller learned: the record, or why it was refused. */
interface Learned {
  readonly data: Any
  readonly code: string | null
}

/** A client that asks again under the same key whenever it cannot know what became of its call. */
function createCaller({ url, owner, settlement }: Shop, count: (what: string) => void) {
  const again = async <Answer>(what: string, call: () => Promise<Answer | null>): Promise<Answer> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await call().catch(() => null)
      if (answer) return answer
      count(`${what} again`)
      if (tries > 200) throw new Error(`${what} was never answered`)
      await wait(150 + 50 * Math.min(tries, 10))
    }
  }
  const post = (path: string, headers: Readonly<Record<string, string>>, body: object) =>
    fetch(url + path, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) },
      signal: AbortSignal.timeout(45_000),
    })
  return {
    run: (name: string, input: object, selection: string): Promise<Learned> =>
      again(name, async () => {
        const query = `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
        const answer = await post('/graphql', { authorization: `Bearer ${owner.token}` }, { query, variables: { input } })
        const { data, errors } = (await answer.json()) as { data?: Any; errors?: { extensions: { code: string; reason?: string } }[] }
        if (!errors) return { data: data[name], code: null }
        const { code, reason } = errors[0]!.extensions
        count(`${name} ${code} ${reason ?? ''}`)
        // Nothing of these is final: the key is free again, or still held by a process that may be dead.
        return ['UPSTREAM_FAILED', 'INTERNAL_SERVER_ERROR', 'RATE_LIMITED', 'OPERATION_TIMED_OUT'].includes(code) || reason === 'IN_PROGRESS'
          ? null
          : { data: null, code: reason ?? code }
      }),
    /** Calls a route as the settlement service. */
    settle: (path: string, body: object): Promise<Learned> =>
      again('settlement', async () => {
        const answer = await post(path, settlement, body)
        const data = (await answer.json()) as Any
        if (answer.ok) return { data, code: null }
        count(`settlement ${answer.status} ${data.code ?? ''} ${data.reason ?? ''}`)
        return answer.status >= 500 || answer.status === 429 || data.reason === 'IN_PROGRESS'
          ? null
          : { data: null, code: data.reason ?? String(answer.status) }
      }),
  }
}

/** What shoppers and the settlement service have done. */
export interface Trade {
  readonly orderIds: readonly string[]
  readonly batchIds: readonly string[]
  /** How often a call was asked again, or refused, by what it was. */
  readonly counts: ReadonlyMap<string, number>
  /** Has no more begun, and waits until what was begun is answered. */
  end(): Promise<void>
}

const orderFields = 'id status paymentPhase'

/**
 * Buys and pays out until it is told to end.
 * @param shoppers how many shop at the same time; one more submits batches
 */
export function openTrade(shop: Shop, random: () => number, shoppers: number): Trade {
  const counts = new Map<string, number>()
  const { run, settle } = createCaller(shop, what => counts.set(what, (counts.get(what) ?? 0) + 1))
  const [orderIds, batchIds]: [string[], string[]] = [[], []]
  let isOver = false
  let keys = 0
  const key = () => {
    keys += 1
    return `chaos-${keys}`
  }
  const amountBelow = (most: number) => 1 + Math.floor(random() * most)

  const pay = (orderId: string, more: object = {}) =>
    run('payOrder', { orderId, paymentMethodToken: 'pm_card_visa', idempotencyKey: key(), ...more }, orderFields)
  const refund = (orderId: string, amountMinor: number) => run('refundOrder', { orderId, amountMinor, reason: 'OTHER', idempotencyKey: key() }, 'id status')

  /** What somebody may do with an order of so much, each as likely as it stands here. */
  const visits: readonly ((orderId: string, total: number) => Promise<unknown>)[] = [
    id => pay(id),
    id => pay(id),
    id => pay(id, { paymentMethodToken: 'pm_card_chargeDeclined' }),
    async (id, total) => {
      await pay(id)
      await Promise.all([refund(id, amountBelow(total - 1)), refund(id, amountBelow(total - 1))])
    },
    async (id, total) => {
      await pay(id, { capture: false })
      await run('captureOrder', { orderId: id, amountMinor: amountBelow(total), idempotencyKey: key() }, orderFields)
    },
    async id => {
      await pay(id, { capture: false })
      await run('cancelOrder', { id, idempotencyKey: key() }, orderFields)
    },
    async id => {
      const addresses = { successUrl: 'https://shop.test/thanks', cancelUrl: 'https://shop.test/back' }
      const { data } = await run('createCheckoutSession', { orderId: id, ...addresses, idempotencyKey: key() }, 'id url')
      if (data?.url) await fetch(`${data.url}?sandbox_approve=1`, { redirect: 'manual' }).catch(() => {})
    },
    // Two tills at once, each under a key of its own.
    id => Promise.all([pay(id), pay(id)]),
  ]

  const shopper = async (): Promise<void> => {
    while (!isOver) {
      const total = 500 + amountBelow(5_000)
      const { data } = await run(
        'createOrder',
        { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: total }], idempotencyKey: key() },
        'id total { amountMinor }',
      )
      if (!data) continue
      orderIds.push(data.id)
      await visits[Math.floor(random() * visits.length)]!(data.id, total)
      await wait(100 + random() * 400)
    }
  }

  const submitter = async (): Promise<void> => {
    for (let at = 0; !isOver; at += 1) {
      const lines = Array.from({ length: 4 + Math.floor(random() * 9) }, (_, line) => ({
        lineId: `line-${line}`,
        payer: `org-${line % 3}`,
        payee: random() < 0.1 ? 'acct_nobody' : shop.payees[line % 2]!,
        amountMinor: amountBelow(900),
        reference: `batch ${at}`,
      }))
      const controlTotalMinor = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
      const batch = { externalBatchId: `chaos-${at}`, currency: 'EUR', controlTotalMinor, lineCount: lines.length, lines }
      const { data } = await settle('/payments/api/settlement-batches', batch)
      if (data) batchIds.push(data.id)
      await wait(1_500 + random() * 1_500)
      // One that is not through refuses that.
      const earlier = batchIds.at(-2)
      if (earlier && random() < 0.4) await settle(`/payments/api/settlement-batches/${earlier}/reversal`, { reason: 'chaos' })
    }
  }

  const all = [...Array.from({ length: shoppers }, shopper), submitter()]
  return {
    ...{ orderIds, batchIds, counts },
    async end() {
      isOver = true
      await Promise.all(all)
    },
  }
}
