import { createCounter } from '../../../../platform/limit.ts'
import type { Registrant, SharedRegistered } from '../../../door/documents/registered.ts'

/** A message about registered documents, from a worker to the process that keeps it running; `call` numbers its answer. */
export type DocumentRequest =
  | { readonly about: 'find-document'; readonly call: number; readonly hash: string; readonly caller: Registrant }
  | { readonly about: 'keep-document'; readonly call: number; readonly hash: string; readonly text: string; readonly caller: Registrant }

/** The answer: the requested text; null when it is unknown, and after a text was stored. */
export interface DocumentAnswer {
  readonly about: 'document'
  readonly call: number
  readonly text: string | null
}

/**
 * Maximum unanswered messages of one worker, for each caller and in all: the process that answers them also accepts
 * connections. Beyond them only the worker's own documents are used.
 */
const limits = { eachCaller: 32, all: 256, timeoutMs: 500 }

/** The shared store of registered documents, from the view of a worker. */
export interface SharedDocuments extends SharedRegistered {
  /** Receives an answer. */
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
