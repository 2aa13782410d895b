import type { FastifyReply } from 'fastify'
import type { DocumentNode, ExecutionResult, OperationDefinitionNode } from 'graphql'
import { DomainError } from '../../../platform/errors.ts'
import type { Caller } from '../../access/authenticate.ts'
import type { Claim } from '../../access/callers/claim.ts'
import type { OperationRequest } from '../../engine/engine.ts'
import type { FormatErrors } from '../../live/shared/message.ts'
import { usesIncremental } from '../documents/deferring.ts'
import type { IncrementalWriting } from '../streaming/incremental-form.ts'
import { isIncremental, sendPayloads } from '../streaming/payloads.ts'
import { isRequestFailure } from './apollo.ts'
import { cachingHeaders } from './caching.ts'
import { directAnswer } from './direct.ts'
import type { HttpDoor } from './door.ts'

/** The client of an operation with deferred fragments, and how it takes the answer. */
export interface IncrementalClient {
  readonly writing: IncrementalWriting
  readonly caller: Caller
  /** Identity under which the caller's use is counted. */
  readonly claim: Claim
  readonly accept: string | null
  readonly formatErrors: FormatErrors
}

/** Whether an operation may be answered in several payloads. Other mistakes of the request are left to the usual way. */
export const mayAnswerLater = ({ engine }: HttpDoor, document: DocumentNode, { operation }: OperationDefinitionNode, method: string): boolean =>
  engine.executeIncrementally !== undefined && (operation === 'query' || (operation === 'mutation' && method === 'POST')) && usesIncremental(document)

/**
 * Answers an operation with deferred fragments: its payloads as they are ready, or one ordinary answer where nothing is
 * deferred. While it is open it takes one of the caller's slots for operations, and one for subscriptions.
 */
export async function answerIncrementally(door: HttpDoor, reply: FastifyReply, request: OperationRequest, client: IncrementalClient): Promise<FastifyReply> {
  const { writing, caller, claim, formatErrors } = client
  const place = door.hub.reserve(claim.caller)
  if (place instanceof DomainError) throw place
  const run = async (): Promise<ExecutionResult | null> => {
    const result = await door.engine.executeIncrementally!(request)
    if (!isIncremental(result)) return result
    reply.headers(cachingHeaders(result) ?? {})
    await sendPayloads(reply, writing, result, { caller, requestId: request.requestId, formatErrors }, door)
    return null
  }
  try {
    const result = await door.shares.run(claim, run, request.signal)
    return result ? sendWhole(reply, result, client) : reply
  } finally {
    place()
  }
}

/** Sends an answer without deferred fragments, as to a client that cannot take any. */
function sendWhole(reply: FastifyReply, result: ExecutionResult, { writing, accept }: IncrementalClient): FastifyReply {
  const isSse = writing.name === 'sse'
  const { status, headers, body } = directAnswer(result, result.errors, isSse ? 'application/graphql-response+json' : accept, isRequestFailure)
  reply.code(status).headers(headers)
  return isSse && status === 200 ? reply.header('content-type', writing.contentType).send(writing.last(body)) : reply.send(body)
}
