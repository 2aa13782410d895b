import type { ExecutionResult } from 'graphql'
import type { Engine, LiveEvent, OperationRequest, ResultStream } from '../../router/engine/engine.ts'

/** Starts a subscription for one person alone; a result instead of a stream says why it did not start. */
export async function subscribeAlone(engine: Engine, request: OperationRequest): Promise<ResultStream | ExecutionResult> {
  const prepared = await engine.prepareStream(request)
  if (!('start' in prepared)) return prepared
  const stream = await prepared.start(request.signal ?? new AbortController().signal, request.inTurn)
  if (!('isLost' in stream)) return stream
  const answers: ResultStream = {
    next: () => stream.next().then(answerOf),
    return: () => stream.return().then(answerOf),
    throw: cause => stream.return().then(() => Promise.reject(cause)),
    [Symbol.asyncIterator]: () => answers,
  }
  return answers
}

const answerOf = ({ value, done }: IteratorResult<LiveEvent>): IteratorResult<ExecutionResult> =>
  done ? { value: undefined, done } : { value: value.answer, done: false }
