import { expect } from 'vitest'
import { type Door, openDoor } from '../../../kit/door.ts'
import type { SupergraphOptions } from '../../../kit/supergraph.ts'
import { openShop, orderFields, type Shop } from '../payment/stage.ts'

export const sessionFields = 'id url status expiresAt order { id status paymentPhase }'
export const linkFields = sessionFields

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
type Any = any

/** A shop with pages on which its orders are paid. */
export interface CheckoutShop extends Shop {
  readonly door: Door
  /** Opens a session of an order. */
  session(orderId: string, more?: object): Promise<Any>
  link(orderId: string, more?: object): Promise<Any>
  /** A session as it stands. */
  seen(id: string): Promise<Any>
  /** What a payer does on the page: pays with a card that works, or with another. @returns status and where it leads */
  visit(url: string, query?: Readonly<Record<string, string>>): Promise<readonly [number, string | null]>
  refunds(orderId: string): Promise<Any[]>
  /** What is read again and again while time passes, a few seconds at a time, until it is as expected. */
  soon<Read>(read: () => Promise<Read>, stepMs?: number): ReturnType<typeof expect.poll<Read>>
}

export const addresses = { successUrl: 'https://shop.example/done', cancelUrl: 'https://shop.example/back' }

export async function openCheckoutShop(options: SupergraphOptions = {}): Promise<CheckoutShop> {
  const shop = await openShop(options)
  const door = await openDoor(shop.graph)
  const read = async (query: string, id: string) => (await shop.graph.execute(query, { id }, { as: shop.owner })).data()
  return {
    ...shop,
    door,
    session: (orderId, more = {}) => shop.change('createCheckoutSession', { orderId, ...addresses, ...more }, shop.owner, sessionFields),
    link: (orderId, more = {}) => shop.change('createPaymentLink', { orderId, ...more }, shop.owner, linkFields),
    seen: async id => (await read(`query($id: ID!) { checkoutSession(id: $id) { ${sessionFields} } }`, id)).checkoutSession,
    async visit(url, query = { sandbox_approve: '1' }) {
      const page = new URL(url)
      for (const [name, value] of Object.entries(query)) page.searchParams.set(name, value)
      const answer = await fetch(page, { redirect: 'manual', signal: AbortSignal.timeout(10_000) })
      return [answer.status, answer.headers.get('location')]
    },
    refunds: async id =>
      (await read(`query($id: ID!) { order(id: $id) { ${orderFields} refunds { status origin amount { amountMinor } } } }`, id)).order.refunds,
    soon: (again, stepMs = 2_000) =>
      expect.poll(
        async () => {
          await shop.pass(stepMs)
          return again()
        },
        { timeout: 20_000 },
      ),
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]()
      await shop[Symbol.asyncDispose]()
    },
  }
}
