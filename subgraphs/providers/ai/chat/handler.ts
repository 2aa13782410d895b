import { DomainError } from '../../../../platform/errors.ts'
import { requireFlat } from '../../../http/body.ts'
import type { Handler } from '../../../http/handlers.ts'
import { streamedResponse, wholeResponse } from '../../../http/streamed.ts'
import type { Ai } from '../../engines/models/engine.ts'
import type { Asking } from '../one-piece.ts'
import { askingOf, mannerOf } from '../wire/asking.ts'
import { bytesOf } from '../wire/fields.ts'
import { onWire } from '../wire/problem.ts'
import { completeChat, streamChat } from './complete.ts'
import { wireCompletion } from './completion.ts'
import { eventsOf, type OpenStreams } from './events.ts'
import { type ChatRequest, readChat } from './request.ts'

/** Handles chat in OpenAI's protocol: in one piece, or as a stream of events. */
export const chatHandler = (ai: Ai, streams: OpenStreams): Handler =>
  onWire(async (request, viewer) => {
    const asking = await askingOf({ viewer, clients: ai.clients, platformOrganization: ai.platformOrganization }, 'COMPLETIONS', mannerOf(request))
    const chat = await readBody(request)
    return chat.stream ? await streamed(ai, chat, asking, streams) : await whole(ai, chat, asking)
  })

async function whole(ai: Ai, chat: ChatRequest, asking: Asking): Promise<Response> {
  const { answer, callId, model, headers } = await completeChat(ai, chat, asking)
  return wholeResponse(JSON.stringify(wireCompletion({ ...answer, id: answer.id || `chatcmpl-${callId}` }, model.name)), 'application/json', headers)
}

async function streamed(ai: Ai, chat: ChatRequest, asking: Asking, streams: OpenStreams): Promise<Response> {
  const made = await streamChat(ai, chat, asking)
  return streamedResponse(eventsOf(made, streams, asking.signal), {
    // Asks proxies not to buffer the answer, so that each event arrives at once.
    headers: { ...made.headers, 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}

async function readBody(request: Request): Promise<ChatRequest> {
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new DomainError('BAD_USER_INPUT', 'The content type must be application/json.')
  const bytes = await bytesOf(request)
  return readChat(parsed(bytes), bytes.byteLength)
}

function parsed(bytes: Uint8Array): unknown {
  requireFlat(bytes)
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is not a JSON object.')
  }
}
