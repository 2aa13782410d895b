import type { ServiceOperation } from '../../../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from '../credential/seed.ts'

/** A key that the played Stripe takes for good. */
export const secret = 'sk_test_of_these_tests_alone'

/** An app that asks as a service, with what its client may have done. */
export const service = (organizationId: string, operations: readonly ServiceOperation[] = ['PAYMENTS', 'TRANSFERS'], appId = 'app_payments'): Viewer => ({
  ...anonymous,
  kind: 'service',
  ...{ appId, organizationId, operations, onlyAt: 'providers', context: 'organization' },
  scopes: ['providers:service.invoke'],
})

export interface ProcessorStage extends AsyncDisposable {
  readonly graph: Supergraph
  readonly organizationId: string
  readonly owner: Viewer
  readonly payments: Viewer
  /** Runs a mutation with its input, and hands back what it answers. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
  change(name: string, input: object, selection?: string, as?: Viewer): Promise<any>
  /** The same for one that is refused: its extensions and its sentence. */
  // biome-ignore lint/suspicious/noExplicitAny: extensions are looked into one by one
  refused(name: string, input: object, as?: Viewer): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
  read(name: string, id: string, selection: string, as?: Viewer): Promise<any>
  /** Tells the played Stripe something. */
  control<Answer = unknown>(path: string, body: object): Promise<Answer>
  arm(fault: string, more?: object): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: what the twin took, as its documentation has it
  received(): Promise<any[]>
  /** What is on record of calls, the oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: rows as the database has them
  calls(): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: rows as the database has them
  record(): Promise<any[]>
}

let keys = 0
export const newKey = (): string => {
  keys += 1
  return `key-${keys}`
}

export const mutation = (name: string, selection: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`

/** A platform with a played Stripe, of which the platform keeps a credential. */
export async function processorStage(options: SupergraphOptions = {}): Promise<ProcessorStage> {
  const graph = await supergraph({ sandbox: true, ...options })
  const { owner, organization } = await graph.seed.owner()
  await seedCredential(graph, { organizationId: null, provider: 'stripe', name: 'Stripe', secret })
  const payments = service(organization.id)
  const control = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const answer = await fetch(`${graph.x.origin}/_control/${path}`, {
      signal: AbortSignal.timeout(10_000),
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'stripe', ...body }) }),
    })
    if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`)
    return (await answer.json()) as Answer
  }
  const ask = (name: string, input: object, selection: string, as: Viewer) =>
    graph.execute(mutation(name, selection), { input: { idempotencyKey: newKey(), ...input } }, { as })
  return {
    ...{ graph, owner, payments, control, organizationId: organization.id },
    change: async (name, input, selection = 'id', as = payments) => (await ask(name, input, selection, as)).data()[name],
    refused: async (name, input, as = payments) => {
      const { error } = await ask(name, input, '__typename', as)
      return { ...error!.extensions, message: error!.message }
    },
    read: async (name, id, selection, as = payments) =>
      (await graph.execute(`query($id: ID!) { ${name}(id: $id) { ${selection} } }`, { id }, { as })).data()[name],
    arm: async (fault, more = {}) => void (await control('faults', { fault, ...more })),
    received: () => control('received?network=stripe'),
    calls: () => graph.rows('select * from providers.calls order by created_at, id'),
    record: () =>
      graph.rows(
        `select actor, action, subject_id, details ->> 'processorId' as processor_id, details from providers.audit_entries where action like 'processor%' order by at, action`,
      ),
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

export const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
