import type { ExecutionResult } from 'graphql'
import { codeOf } from '../../../platform/errors.ts'
import type { OperationRequest } from '../engine.ts'
import { refused } from './prepare.ts'

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
