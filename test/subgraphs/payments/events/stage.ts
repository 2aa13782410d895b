import { createHmac, randomBytes } from 'node:crypto'
import { tryMs } from '../../../../subgraphs/payments/engines/webhook/rules.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { until } from '../../../kit/launch.ts'
import { processorSecret, type Supergraph } from '../../../kit/supergraph.ts'

// biome-ignore lint/suspicious/noExplicitAny: an event has the shape that the processor gives it
type Any = any

/** An event as the processor sends it. */
export type SentEvent = { readonly id: string; readonly type: string; readonly created: number; readonly [field: string]: Any }

/** The header with which the processor signs a body. */
export const signatureOf = (body: string, at: Date, secret = processorSecret): string => {
  const seconds = Math.floor(at.getTime() / 1000)
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

/** How a delivery differs from the usual one. */
export interface Delivery {
  readonly signature?: string | null
  readonly text?: string
}

/** Delivers events of the processor to a platform. */
export const eventsOf = (graph: Supergraph) => {
  const deliver = async (event: object, { text = JSON.stringify(event), signature = signatureOf(text, graph.clock.now()) }: Delivery = {}) => {
    const request = new Request('http://payments/payments/api/webhooks/stripe', {
      method: 'POST',
      body: text,
      headers: signature === null ? {} : { 'stripe-signature': signature },
    })
    return graph.platform.payments.http!(request, anonymous)
  }
  const processor = async (path: string): Promise<Any> => {
    const answer = await fetch(`${graph.x.origin}/stripe/v1${path}`, { headers: { authorization: 'Bearer sk_test_of_these_tests_alone' } })
    if (!answer.ok) throw new Error(`the processor refuses ${path}: ${await answer.text()}`)
    return answer.json()
  }
  return {
    deliver,
    /** The events that the processor has made, the earliest first. */
    made: async (): Promise<SentEvent[]> => (await processor('/events?limit=100')).data.reverse(),
    /** An object as the processor has it. */
    at: (path: string): Promise<Any> => processor(path),
    /** An event that nobody made at the processor. */
    event: (type: string, object: object, more: object = {}): SentEvent => ({
      ...{ id: `evt_${randomBytes(12).toString('hex')}`, object: 'event', type, created: Math.floor(graph.clock.now().getTime() / 1000), livemode: false },
      ...{ data: { object } },
      ...more,
    }),
    /** Delivers an event, and waits until it was processed. @returns it as it stands then */
    async take(event: SentEvent): Promise<Any> {
      const answer = await deliver(event)
      if (answer.status !== 200) throw new Error(`the event is refused: ${await answer.text()}`)
      return this.tried(event, 1)
    },
    /** An event once it was tried so often, and what came of that was written. */
    async tried(event: SentEvent, times: number): Promise<Any> {
      return until(`event ${event.id} was tried ${times} times`, async () => {
        await graph.clock.run(1_000)
        const found = await this.kept(event)
        // While a try is under way its time ends a whole lease after it began.
        const isUnderWay = found?.next_attempt_at?.getTime() === found?.updated_at.getTime() + tryMs
        return found?.attempts === times && found.status !== 'RECEIVED' && !isUnderWay && found
      })
    },
    async kept({ id }: SentEvent): Promise<Any> {
      const [found] = await graph.rows('select * from payments.webhook_events where processor_event_id = $1', [id])
      return found
    },
    /** Something that somebody does at the processor itself. */
    async act(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Any> {
      const answer = await fetch(`${graph.x.origin}/stripe/v1${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk_test_of_these_tests_alone', 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields),
      })
      if (!answer.ok) throw new Error(`the processor refuses ${path}: ${await answer.text()}`)
      return answer.json()
    },
    /** Has somebody do something at the processor that makes an event. */
    async emit(event: string, id: string, status?: string): Promise<void> {
      const body = JSON.stringify({ network: 'stripe', event, id, ...(status && { status }) })
      const answer = await fetch(`${graph.x.origin}/_control/emit`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (!answer.ok) throw new Error(`the sandbox refuses ${event}: ${await answer.text()}`)
    },
  }
}
