import type { ExecutionResult } from 'graphql'
import type { Dispatcher } from 'undici'
import { readAnswer } from '../answer.ts'
import { UpstreamFailure } from '../exchange.ts'
import { messageBytes } from './results.ts'

/**
 * Reads the whole of an answer that is no stream.
 * @param mayBeEmpty whether an answer without a GraphQL result is null instead of a failure
 * @throws UpstreamFailure when it is too long, or no GraphQL answer
 */
export async function ordinary({ statusCode, body }: Dispatcher.ResponseData, mayBeEmpty = false): Promise<ExecutionResult | null> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > messageBytes) throw new UpstreamFailure('answered', `It answered with more than ${messageBytes} bytes`)
    pieces.push(piece)
  }
  const text = Buffer.concat(pieces).toString('utf8')
  if (mayBeEmpty && !/"errors"/.test(text)) return null
  return readAnswer({ status: statusCode, text })
}

/** Returns the result with which a subscription was refused; undefined when it began. */
export const refusalIn = (result: ExecutionResult | undefined): ExecutionResult | undefined => (result?.errors?.length && !result.data ? result : undefined)
