import type { ExecutionResult } from 'graphql'
import { codeOf } from '../../../platform/errors.ts'
import type { EngineOptions, OperationRequest } from '../engine.ts'
import { TooMuch, tooMuchResult } from '../errors.ts'
import type { Run } from '../execute/execute.ts'
import { abandon } from '../work.ts'
import { accidentOf, type Ready, refused } from './prepare.ts'

/** Settles as soon as the caller leaves; work that runs then finishes by itself and starts nothing more. */
export function untilAborted<Result>({ signal }: Pick<OperationRequest, 'signal'>, work: () => Promise<Result>): Promise<Result | ExecutionResult> {
  if (!signal) return work()
  return new Promise((resolve, reject) => {
    const leave = () => {
      const code = codeOf(signal.reason)
      resolve(
        code === 'INTERNAL_SERVER_ERROR'
          ? refused('UPSTREAM_FAILED', 'The operation was ended before it was answered.')
          : refused(code, (signal.reason as Error).message),
      )
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave)
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave))
  })
}

/** Runs work on an answer. An unexpected error, such as lists deeper than the stack, fails this one answer. */
export async function settled<Result>(
  { request }: Ready,
  { call }: Run,
  { log, exposeInternalErrors }: EngineOptions,
  work: () => Promise<Result>,
): Promise<Result | ExecutionResult> {
  try {
    return await work()
  } catch (cause) {
    abandon(call.operation)
    if (cause instanceof TooMuch) return tooMuchResult(cause)
    log.error({ requestId: request.requestId, err: cause }, 'answer could not be assembled')
    return accidentOf(cause, exposeInternalErrors)
  }
}
