import { parse } from 'graphql'
import type { IncrementalAnswer, IncrementalForm, InTurn, LiveStream } from '../../../router/engine/engine.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import type { SentPayload } from '../../kit/payloads.ts'
import type { TestGraph } from '../supergraph-fixture.ts'

export interface Asking {
  readonly variables?: Record<string, unknown>
  readonly viewer?: Viewer
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  readonly inTurn?: InTurn
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

/** Starts a subscription whose events may have parts that come later; throws where it is refused. */
export async function follow(
  { engine }: Pick<TestGraph, 'engine'>,
  source: string,
  form: IncrementalForm | undefined,
  asking: Asking = {},
): Promise<LiveStream> {
  const { variables, viewer = anonymous, signal = new AbortController().signal, headers, inTurn } = asking
  const request = { document: parse(source), variables, viewer, headers: headers && new Headers(headers), requestId: 'r', incremental: form }
  const prepared = await engine.prepareStream(request)
  if (!('start' in prepared)) throw new Error(JSON.stringify(prepared))
  const stream = await prepared.start(signal, inTurn)
  if (!('isLost' in stream)) throw new Error(JSON.stringify(stream))
  return stream
}

/** Reads the payloads of a stream's next event. */
export async function nextEvent(stream: Pick<LiveStream, 'next'>): Promise<SentPayload[]> {
  const payloads: SentPayload[] = []
  for (let each = await stream.next(); !each.done; each = await stream.next()) {
    payloads.push(JSON.parse(JSON.stringify(each.value.answer)))
    if (!('hasNext' in each.value.answer) || !each.value.answer.hasNext) break
  }
  return payloads
}

/** Reads the payloads that an answer still has. */
export async function rest(answer: IncrementalAnswer): Promise<SentPayload[]> {
  const payloads: SentPayload[] = []
  for (let each = await answer.next(); !each.done; each = await answer.next()) payloads.push(JSON.parse(JSON.stringify(each.value)))
  return payloads
}
