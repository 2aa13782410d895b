import { expect } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from '../credential/seed.ts'

export const chatModel = 'openai/gpt-5-mini'
export const secondModel = 'anthropic/claude-haiku-4-5'

/** A platform whose vendors of models are played, with a credential of its own for each. */
export interface AiWorld extends AsyncDisposable {
  readonly graph: Supergraph
  readonly owner: Viewer
  /** What the organization may spend, in micro-dollars. */
  limit(hardMicros: number): Promise<void>
  /** Calls an address of the gateway's own. */
  ask(path: string, body: unknown, options?: AskOptions): Promise<Response>
  /** A chat, in one piece or as a stream. */
  chat(text: string, body?: object, options?: AskOptions): Promise<Response>
  /** Arms a fault; none disarms. */
  arm(network: string, fault?: object): Promise<void>
  /** What a network took. */
  received(network: string): Promise<readonly Record<string, unknown>[]>
  /** Lets the present be worked off until something is so. */
  until(is: () => Promise<unknown>, expected: unknown): Promise<void>
  /** What is on record of an answered call. */
  callOf(answer: Response): Promise<Record<string, unknown>>
  /** What limits say: nothing may stay held. */
  spent(): Promise<{ readonly spent: number; readonly reserved: number }>
}

export interface AskOptions {
  readonly headers?: Record<string, string>
  readonly as?: Viewer
  readonly signal?: AbortSignal
}

export async function aiWorld(options: SupergraphOptions = {}): Promise<AiWorld> {
  const graph = await supergraph({ sandbox: true, ...options })
  const { owner, organization } = await graph.seed.owner()
  for (const provider of ['openai', 'anthropic']) await seedCredential(graph, { organizationId: null, provider, secret: `sk-sandbox-${provider}-of-a-test` })
  const providers = graph.platform.subgraphs.find(({ registration }) => registration.slug === 'providers')!
  const control = async (path: string, body?: object) => {
    const answer = await fetch(`${graph.x.origin}/_control/${path}`, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`)
    return await answer.json()
  }
  const ask: AiWorld['ask'] = (path, body, { headers = {}, as = owner, signal } = {}) =>
    providers.http!(
      new Request(`${graph.publicUrl}/providers/api/ai/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': 'of-a-test', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal && { signal }),
      }),
      as,
    )
  return {
    graph,
    owner,
    ask,
    chat: (text, body = {}, more = {}) =>
      ask('chat/completions', { model: chatModel, messages: [{ role: 'user', content: text }], max_completion_tokens: 60, ...body }, more),
    async limit(hardMicros) {
      const now = graph.clock.now()
      await graph.rows(
        `insert into providers.spend_limits (id, level, organization_id, tenant_id, scope_type, scope_value, period, hard_limit_micros, since, created_at, updated_at, created_by)
         values (gen_random_uuid(), 'ORGANIZATION', $1::uuid, $1::uuid, 'ORGANIZATION', $1::uuid::text, 'TOTAL', $2, $3, $3, $3, 'test')`,
        [organization.id, hardMicros, now],
      )
    },
    arm: async (network, fault = { fault: 'none' }) => void (await control('faults', { network, times: 1, ...fault })),
    received: network => control(`received?network=${network}`) as Promise<readonly Record<string, unknown>[]>,
    async until(is, expected) {
      const look = async () => {
        await graph.clock.run(100)
        return is()
      }
      await expect.poll(look, { timeout: 20_000 }).toEqual(expected)
    },
    async callOf({ headers }) {
      const [call] = await graph.rows('select * from providers.calls where id = $1', [headers.get('x-gateway-call-id')])
      if (!call) throw new Error('the call is not on record')
      return call
    },
    async spent() {
      const [row] = await graph.rows<{ spent: string; reserved: string }>(
        'select coalesce(sum(spent_micros), 0) as spent, coalesce(sum(reserved_micros), 0) as reserved from providers.spend_limits',
      )
      return { spent: Number(row!.spent), reserved: Number(row!.reserved) }
    },
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a vendor's wire holds is looked at part by part
export type Json = any

/** A stream of events as a client reads it. */
export interface ReadStream {
  readonly events: readonly Record<string, Json>[]
  readonly content: string
  /** Whether `[DONE]` came last. */
  readonly done: boolean
}

export async function readStream(answer: Response): Promise<ReadStream> {
  const text = await answer.text()
  const data = text.split('\n').flatMap(line => (line.startsWith('data: ') ? [line.slice(6)] : []))
  const events = data.filter(line => line !== '[DONE]').map(line => JSON.parse(line) as Record<string, Json>)
  return { events, done: data.at(-1) === '[DONE]', content: events.map(event => event.choices?.[0]?.delta?.content ?? '').join('') }
}
