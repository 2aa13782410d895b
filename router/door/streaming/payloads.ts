import type { FastifyReply } from 'fastify'
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { IncrementalAnswer } from '../../engine/engine.ts'
import { type FormatErrors, formatPayload } from '../../live/shared/message.ts'
import { beginAnswer, cutSlow, type Reader, type StreamingDoor, streamingLimits, watchCaller } from './answer.ts'
import type { IncrementalWriting } from './incremental-form.ts'

/** Whether an operation is answered in several payloads. */
export const isIncremental = (result: ExecutionResult | IncrementalAnswer): result is IncrementalAnswer => 'next' in result

/** Sends the payloads of an answer as they are ready. Resolves when the answer has ended, on either side. */
export async function sendPayloads(
  reply: FastifyReply,
  writing: IncrementalWriting,
  answer: IncrementalAnswer,
  { caller, requestId, formatErrors }: Reader & { readonly formatErrors: FormatErrors },
  door: StreamingDoor,
): Promise<void> {
  const response = beginAnswer(reply, writing, door.hosts, { 'cache-control': 'no-store', vary: 'accept' })
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    clearInterval(heartbeat)
    unwatch()
    void answer.return()
  }
  const unwatch = watchCaller(door, caller, why => answer.cut(asError(why)))
  let isQuiet = true
  const beat = () => {
    if (isQuiet) response.write(writing.heartbeat)
    isQuiet = true
  }
  const heartbeat = setInterval(beat, door.heartbeatMs ?? streamingLimits.heartbeatMs).unref()
  response.once('close', over)
  response.on('error', err => door.log.debug({ err, requestId }, 'incremental answer failed'))
  let before = writing.begin
  for (let each = await answer.next(); !each.done && !isOver; each = await answer.next()) {
    if (cutSlow(response, requestId, door)) break
    const json = JSON.stringify(formatPayload(each.value, formatErrors))
    isQuiet = false
    if (each.value.hasNext) response.write(before + writing.next(json))
    else response.end(before + writing.last(json))
    before = ''
  }
  over()
}

const asError = ({ message, extensions }: GraphQLFormattedError): GraphQLError => new GraphQLError(message, { extensions: extensions ?? {} })
