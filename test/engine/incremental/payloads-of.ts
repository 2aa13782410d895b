import { parse } from 'graphql'
import type { IncrementalAnswer, IncrementalForm } from '../../../router/engine/engine.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import type { SentPayload } from '../../kit/payloads.ts'
import type { TestGraph } from '../supergraph-fixture.ts'

export interface Asking {
  readonly variables?: Record<string, unknown>
  readonly viewer?: Viewer
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** Begins an operation that may defer. */
export async function begin({ engine }: Pick<TestGraph, 'engine'>, source: string, form: IncrementalForm, asking: Asking = {}) {
  const { variables, viewer = anonymous, signal, headers } = asking
  return engine.executeIncrementally!({
    document: parse(source),
    variables,
    viewer,
    signal,
    headers: headers && new Headers(headers),
    requestId: 'r',
    incremental: form,
  })
}

/** Runs an operation and reads all its payloads, as a client does: each is written out before the next is made. */
export async function payloadsOf(
  graph: Pick<TestGraph, 'engine'>,
  source: string,
  form: IncrementalForm = 'v0.2',
  asking: Asking = {},
): Promise<SentPayload[]> {
  const answer = await begin(graph, source, form, asking)
  return 'next' in answer ? rest(answer) : [JSON.parse(JSON.stringify(answer))]
}

/** Reads the payloads that an answer still has. */
export async function rest(answer: IncrementalAnswer): Promise<SentPayload[]> {
  const payloads: SentPayload[] = []
  for (let each = await answer.next(); !each.done; each = await answer.next()) payloads.push(JSON.parse(JSON.stringify(each.value)))
  return payloads
}
