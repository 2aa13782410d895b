import type { Ask, CallService } from '../../../../platform/ask.ts'
import { CompleteDocument } from '../../ask.generated.ts'
import type { Json } from '../../stores/workflow.ts'
import { limits } from '../run/plan.ts'
import { type CallPiece, eventsOf } from './events.ts'
import { failureOf, ModelFailure, noModel } from './failure.ts'
import { piecesBy } from './pieces.ts'
import { type Usage, usageOf } from './usage.ts'

/** A tool that a model wants called. */
export interface AskedCall {
  readonly id: string
  readonly name: string
  /** JSON, as the model wrote it. */
  readonly arguments: string
}

/** Something said in a conversation with a model; of TOOL, what came of a call. */
export interface Message {
  readonly role: 'SYSTEM' | 'USER' | 'ASSISTANT' | 'TOOL'
  readonly content: string
  /** Of ASSISTANT: the tools that the model wanted called. */
  readonly toolCalls?: readonly AskedCall[]
  /** Of TOOL: the call. */
  readonly toolCallId?: string
}

/** A tool as models are offered it. */
export interface ModelTool {
  readonly name: string
  readonly description: string | null
  /** JSON Schema of an object. */
  readonly parameters: Json
}

/** A question to a model. */
export interface ModelQuestion {
  readonly organizationId: string
  /** The person for whom it is asked: providers attribute the call to them. Null for nobody. */
  readonly forUser: string | null
  /** A name of providers' catalogue, or `default`. */
  readonly model: string
  readonly messages: readonly Message[]
  /** Tools that it may call. */
  readonly tools?: readonly ModelTool[]
  /** Whether it may call them in this answer. @default true */
  readonly mayCall?: boolean
  /** Time limit of the whole answer, in ms. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** What a model answered, as providers log it. */
export interface ModelAnswer extends Usage {
  readonly text: string
  /** The tools that it wants called. */
  readonly calls: readonly AskedCall[]
}

/** An answer that is being written. */
export interface ModelStream {
  /** The call in providers' log. */
  readonly callId: string
  readonly pieces: AsyncIterable<string>
  /** What it used, once the pieces have ended. */
  usage(): Usage
  /** The tools that it wants called, once the pieces have ended. */
  calls(): readonly AskedCall[]
}

/** Models of the gateway to providers, asked as `app_agents` with its own scopes. */
export interface Models {
  /** Asks for a whole answer. @throws ModelFailure */
  complete(question: ModelQuestion): Promise<ModelAnswer>
  /**
   * Asks for an answer piece by piece, each as it comes; resolves with the first. The call ends with the signal, and when its pieces are left.
   * @throws ModelFailure while nothing has come, and from the pieces for what happens later
   */
  stream(question: ModelQuestion): Promise<ModelStream>
}

/** The model's name as providers take it: null for the organization's preference. */
export const namedModel = (model: string): string | null => (model === 'default' ? null : model)

/**
 * Opens the way to models.
 * @param appId  the asking app
 * @param scopes its own scopes, which do not depend on who asks it
 */
export function openModels({ ask, call }: { readonly ask: Ask; readonly call: CallService | null }, appId: string, scopes: readonly string[]): Models {
  return {
    stream: question => streamFrom(call, appId, question),
    async complete({ organizationId, forUser, model, messages, tools = [], mayCall = true, timeoutMs, signal }) {
      const viewer = { userId: null, organizationId, roles: [], scopes, context: 'organization' as const }
      const inTime = AbortSignal.timeout(timeoutMs)
      const late = signal ? AbortSignal.any([signal, inTime]) : inTime
      const toolInput = tools.length > 0 && { tools: tools.map(wireTool), toolChoice: mayCall ? 'auto' : 'none' }
      const input = { model: namedModel(model), messages, ...toolInput }
      try {
        const asking = ask(CompleteDocument, { input }, { appId, viewer, forUser, timeoutMs: timeoutMs, signal: late })
        const { createCompletion: answer } = await Promise.race([asking, aborted(late)])
        if (!answer) throw new ModelFailure(noModel('The model did not answer.'))
        return { text: answer.content ?? '', calls: answer.toolCalls, ...usageOf(answer) }
      } catch (error) {
        throw new ModelFailure(failureOf(error, inTime.aborted), error)
      }
    },
  }
}

/** A tool in the form that providers take. */
const wireTool = ({ name, description, parameters }: ModelTool) => ({
  type: 'function',
  function: { name, ...(description !== null && { description }), parameters },
})

/** A message in the form that providers take. */
const wireMessage = ({ role, content, toolCalls, toolCallId }: Message) => ({
  ...{ role: role.toLowerCase(), content },
  ...(toolCalls && { tool_calls: toolCalls.map(({ id, ...made }) => ({ id, type: 'function', function: made })) }),
  ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
})

/** Puts pieces of tool calls together. Of a call that is too long, and of too many, nothing more is kept: they are not made. */
function join(called: Map<number, AskedCall>, { index, id, name, arguments: given }: CallPiece): void {
  const known = called.get(index) ?? { id: '', name: '', arguments: '' }
  if (called.size >= limits.tools.read && !called.has(index)) return
  const isFull = known.arguments.length + known.name.length + known.id.length > limits.tools.argumentBytes
  if (!isFull) called.set(index, { id: known.id + id, name: known.name + name, arguments: known.arguments + given })
}

/** Rejects once a signal aborts. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })

/** Calls the row that streams, and waits for the first piece: until then another way to answer is open. */
async function streamFrom(call: CallService | null, appId: string, question: ModelQuestion): Promise<ModelStream> {
  const { organizationId, forUser, model, messages, tools = [], mayCall = true, timeoutMs, signal } = question
  try {
    if (!call) throw new Error('This service has no token with which it may call providers.')
    const named = namedModel(model)
    const body = JSON.stringify({
      ...(named !== null && { model: named }),
      messages: messages.map(wireMessage),
      ...(tools.length > 0 && { tools: tools.map(wireTool), tool_choice: mayCall ? 'auto' : 'none' }),
      ...{ stream: true, stream_options: { include_usage: true } },
    })
    const how = { method: 'POST', headers: { 'content-type': 'application/json' }, body, idleMs: timeoutMs, totalMs: timeoutMs, signal }
    const answer = await call.stream('/providers/api/ai/completions', { appId, organizationId, forUser }, how)
    if (answer.status !== 200) throw await problemOf(answer.body)
    const callId = answer.headers.get('x-gateway-call-id') ?? ''
    const events = eventsOf(answer.body, callId)
    const first = await events.next()
    let used: Usage = usageOf({ callId })
    let waiting: typeof first | null = first
    const called = new Map<number, AskedCall>()
    const pieces = piecesBy<string>(
      async () => {
        try {
          for (;;) {
            const event = waiting ?? (await events.next())
            waiting = null
            if (event.done) return undefined
            used = event.value.usage ?? used
            for (const piece of event.value.calls) join(called, piece)
            if (event.value.text !== '') return event.value.text
          }
        } catch (error) {
          throw new ModelFailure(failureOf(error, false), error)
        }
      },
      () => events.return?.(),
    )
    return { callId, pieces, usage: () => used, calls: () => [...called.values()] }
  } catch (error) {
    throw new ModelFailure(failureOf(error, (error as { kind?: string }).kind === 'late'), error)
  }
}

/** What a refused call says, as an error with its code. */
async function problemOf(body: AsyncIterable<Uint8Array>): Promise<Error> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  try {
    const { code, detail, retryAfter } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { code?: string; detail?: string; retryAfter?: number }
    return Object.assign(new Error(detail ?? 'The model did not answer.'), { extensions: { code, retryAfter } })
  } catch {
    return new Error('The model did not answer.')
  }
}
