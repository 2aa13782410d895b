import { randomBytes } from 'node:crypto'
import { processorKey } from '../../../subgraphs/providers/demo/platform.ts'
import { type Client, signIn } from '../../kit/client.ts'
import { type Apart, openApart } from '../apart.ts'

// biome-ignore lint/suspicious/noExplicitAny: an object of the processor has the shape that it gives it
type Any = any

/** Payments as several processes. */
export interface Shop extends Pick<Apart, 'url' | 'workers' | 'rows'>, AsyncDisposable {
  readonly owner: Client
  readonly organizationId: string
  readonly payees: readonly string[]
  /** Headers by which the settlement service calls. */
  readonly settlement: Readonly<Record<string, string>>
  /** Asks the sandbox under `/_control`, or with a body tells it something. */
  control(path: string, body?: object): Promise<Any>
  /** Every object of a list of the processor. */
  all(path: string): Promise<Any[]>
}

/** Opens payments apart, and waits until orders can be paid. @param count how many processes of payments */
export async function openShop(count: number): Promise<Shop> {
  const settlementToken = randomBytes(32).toString('base64url')
  await using opening = new AsyncDisposableStack()
  const settings = () => ({ SETTLEMENT_PAYMENTS_SERVICE_TOKEN: settlementToken })
  const { demo, origin, ...apart } = opening.use(await openApart('payments', { count, settings, processorEvents: '/payments/api/webhooks/stripe' }))
  const owner = await signIn(apart.url)
  const stack = opening.move()
  return {
    ...{ url: apart.url, workers: apart.workers, rows: apart.rows, control: apart.control },
    ...{ owner, organizationId: demo.organizationId, payees: demo.payments.payees },
    settlement: { 'x-service-token': settlementToken, 'x-app-id': 'app_settlement', 'x-organization-id': demo.organizationId },
    async all(path) {
      const found: Any[] = []
      for (;;) {
        const after = found.length > 0 ? `&starting_after=${found.at(-1).id}` : ''
        const answer = await fetch(`${origin}/stripe/v1${path}?limit=100${after}`, { headers: { authorization: `Bearer ${processorKey}` } })
        if (!answer.ok) throw new Error(`the processor answers ${answer.status}: ${await answer.text()}`)
        const { data, has_more: hasMore } = (await answer.json()) as { data: Any[]; has_more: boolean }
        found.push(...data)
        if (!hasMore) return found
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
