import type { FastifyReply } from 'fastify'
import type { DocumentNode, GraphQLFormattedError } from 'graphql'
import { causeNow } from '../../../platform/caller/cause.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Caller } from '../../access/authenticate.ts'
import type { Claim } from '../../access/callers/claim.ts'
import type { IncrementalForm, OperationRequest } from '../../engine/engine.ts'
import type { Asked, Hub } from '../../live/shared/hub.ts'
import { inTurnOf } from '../../live/shares.ts'
import { usesIncremental } from '../documents/deferring.ts'
import { doorRefusal, sendErrors } from '../errors.ts'
import { sendStream } from '../streaming/answer.ts'
import type { StreamForm } from '../streaming/form.ts'
import { sseFormOf } from '../streaming/incremental-form.ts'
import type { HttpDoor } from './door.ts'

/** The client of a subscription, and the format of its answer. */
export interface Subscriber {
  readonly form: StreamForm
  readonly caller: Caller
  /** Identity under which the caller's use is counted. */
  readonly claim: Claim
  readonly formatErrors: Asked['formatErrors']
}

/** The subscription of a request, with its variables as sent. */
export interface AskedSubscription extends Omit<OperationRequest, 'variables'> {
  readonly variables: unknown
}

/** Answers a subscription with its events, or with the errors why it does not start. */
export async function streamSubscription(
  door: HttpDoor,
  reply: FastifyReply,
  { variables, ...asked }: AskedSubscription,
  { form, caller, claim, formatErrors }: Subscriber,
): Promise<FastifyReply> {
  if (!areVariables(variables)) throw doorRefusal(400, 'The variables of an operation are a JSON object.')
  const place = door.hub.reserve(claim.caller)
  if (place instanceof DomainError) throw place
  const request = { ...asked, variables: variables ?? undefined, inTurn: inTurnOf(door.events, claim, causeNow() ?? null) }
  let joined: Awaited<ReturnType<Hub['join']>>
  try {
    joined = await door.starts.run(claim, () => door.hub.join({ request, formatErrors }, place), asked.signal)
  } catch (cause) {
    place()
    throw cause
  }
  if ('listen' in joined) return sendStream(reply, form, joined, { caller, requestId: asked.requestId }, door)
  const errors: readonly GraphQLFormattedError[] | undefined = joined.errors && formatErrors(joined.errors)
  // The operation was not executed, so the result is not an event.
  if (joined.data === undefined) return sendErrors(reply, 400, errors ?? [], 'application/graphql-response+json')
  return reply
    .code(200)
    .header('content-type', form.contentType)
    .send(`${form.begin}${form.next(JSON.stringify({ ...joined, ...(errors && { errors }) }))}${form.complete}`)
}

/** Returns the form in which a client takes the parts of events; undefined where events come in one piece. */
export const eventFormOf = ({ engine }: HttpDoor, { name }: StreamForm, document: DocumentNode, accept: string | null): IncrementalForm | undefined =>
  name === 'sse' && engine.executeIncrementally && usesIncremental(document) ? sseFormOf(accept) : undefined

/** Whether a request's variables have the form of variables. */
export const areVariables = (value: unknown): value is Record<string, unknown> | null | undefined =>
  value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))
