import { claimed } from '../../../store/claim.ts'
import type { CompletionMessageInput, Resolvers } from '../../resolvers.generated.ts'
import { completeChat } from '../chat/complete.ts'
import { readChat } from '../chat/request.ts'
import { mostTools } from '../chat/tools.ts'
import { shownInGraph } from '../one-piece.ts'
import { askingOf } from '../wire/asking.ts'
import { renamed, wrong } from '../wire/fields.ts'

/** Names in the graph that differ from the protocol's. */
const names = { max_completion_tokens: 'maxOutputTokens', response_format: 'responseFormat', tool_choice: 'toolChoice' }

/** Maximum bytes of a completion's input: those of a body in the protocol. */
const mostBytes = 10 * 1024 * 1024

/** A message as the protocol has it. @throws BAD_USER_INPUT where it names calls that it cannot have, or lacks the one that it is about */
function messageOf({ role, content, toolCalls, toolCallId }: CompletionMessageInput, at: number) {
  const field = `messages[${at}]`
  if ((role === 'TOOL') !== (toolCallId != null))
    wrong(`${field}.toolCallId`, `${field}.toolCallId is for messages of TOOL, and each of these needs one: the id of the call that it is about.`)
  if (role !== 'ASSISTANT' && toolCalls?.length) wrong(`${field}.toolCalls`, `${field}.toolCalls is for messages of ASSISTANT.`)
  return {
    ...{ role: role.toLowerCase(), content: content ?? null },
    ...(toolCalls?.length && { tool_calls: toolCalls.map(({ id, ...made }) => ({ id, type: 'function', function: made })) }),
    ...(toolCallId != null && { tool_call_id: toolCallId }),
  }
}

export const completionResolvers: Resolvers = {
  Mutation: {
    async createCompletion(_, { input }, context) {
      const { fallback, maxOutputTokens, responseFormat, toolChoice, tools, messages, model } = input
      const body = {
        model,
        messages: messages.map(messageOf),
        ...(maxOutputTokens != null && { max_completion_tokens: maxOutputTokens }),
        ...(responseFormat != null && { response_format: responseFormat }),
        ...(tools != null && { tools }),
        ...(toolChoice != null && { tool_choice: toolChoice }),
      }
      const bytes = Buffer.byteLength(JSON.stringify(body))
      if (bytes > mostBytes) wrong('messages', `messages and tools are longer than ${mostBytes} bytes together: leave some of them out.`)
      const request = renamed(names, () => readChat(body, bytes))
      const asking = await askingOf(context, 'COMPLETIONS', { fallback, signal: context.leaving })
      const claim = { what: 'completion', once: input, tenantId: asking.caller.organizationId }
      const made = await claimed(context, claim, () => completeChat(context.ai, request, asking))
      const { content, refusal, finishReason, toolCalls, tokens } = made.answer
      return {
        ...shownInGraph(made),
        dropped: made.dropped,
        content: content ?? refusal,
        finishReason,
        toolCalls: toolCalls.slice(0, mostTools).map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given })),
        inputTokens: tokens.input,
        outputTokens: tokens.output,
      }
    },
  },
}
