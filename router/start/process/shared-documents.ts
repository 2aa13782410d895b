import { createCounter } from '../../../platform/limit.ts'
import type { Registrant, SharedRegistered } from '../../door/documents/registered.ts'

/** A message about registered documents, from a worker to the process that keeps it running; `call` numbers its answer. */
export type DocumentRequest =
  | { readonly about: 'find-document'; readonly call: number; readonly hash: string; readonly caller: Registrant }
  | { readonly about: 'keep-document'; readonly call: number; readonly hash: string; readonly text: string; readonly caller: Registrant }

/** The answer: the text that was asked for; null where none is known, and after a text was taken. */
export interface DocumentAnswer {
  readonly about: 'document'
  readonly call: number
  readonly text: string | null
}

/**
 * Bounds of the messages that one worker has unanswered, for each caller and in all: the process that answers them takes connections as well.
 * Beyond them the worker's own documents count alone.
 */
const limits = { eachCaller: 32, all: 256, timeoutMs: 500 }

/** The shared store of registered documents, as a worker reaches it. */
export interface SharedDocuments extends SharedRegistered {
  /** Takes an answer. */
  receive(answer: DocumentAnswer): void
}

/** @param send returns false when the other process is gone */
export function openSharedDocuments(send: (request: DocumentRequest) => boolean | undefined): SharedDocuments {
  const waiting = new Map<number, (text: string | undefined) => void>()
  const callers = createCounter()
  let calls = 0

  async function ask(caller: Registrant, request: (call: number) => DocumentRequest): Promise<string | undefined> {
    if (waiting.size >= limits.all) return undefined
    const call = ++calls
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const late = setTimeout(resolve, limits.timeoutMs, undefined)
    try {
      if (callers.enter(caller.name) > limits.eachCaller) return undefined
      waiting.set(call, resolve)
      if (send(request(call)) === false) return undefined
      return await promise
    } finally {
      clearTimeout(late)
      waiting.delete(call)
      callers.leave(caller.name)
    }
  }
  return {
    receive: ({ call, text }) => waiting.get(call)?.(text ?? undefined),
    find: (hash, caller) => ask(caller, call => ({ about: 'find-document', call, hash, caller })),
    keep: async (hash, text, caller) => void (await ask(caller, call => ({ about: 'keep-document', call, hash, text, caller }))),
  }
}
