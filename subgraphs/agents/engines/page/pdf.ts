import { Worker } from 'node:worker_threads'
import { createTurns } from '../../../../platform/jobs/turns.ts'
import type { PdfRead, PdfTask } from './pdf-worker.ts'

/** Bounds of a PDF. Times in ms, memory in bytes. */
export const pdfLimits = { pages: 1_000, timeoutMs: 20_000, array: 64 * 1_024 * 1_024, arrays: 1_024 * 1_024 * 1_024, heapMb: 256 } as const

/** Why a document has no text for us: the reader's answer, or that it took more than it may. */
export type Unreadable = Extract<PdfRead, { refused: unknown }>['refused'] | 'costly'

/** Reads the text of PDF documents. */
export interface PdfReader {
  /**
   * Reads the text of a document, page by page, until it is longer than `maxText`. Organizations take turns.
   * @throws RATE_LIMITED with `retryAfter` when too many documents of the organization wait
   */
  read(organizationId: string, bytes: Uint8Array, maxText: number): Promise<{ readonly text: string } | { readonly refused: Unreadable }>
}

async function readInThread(bytes: Uint8Array, maxText: number, timeoutMs: number): Promise<PdfRead | { readonly refused: 'costly' }> {
  const { pages: maxPages, array: maxArray, arrays: maxArrays, heapMb } = pdfLimits
  // Discards what the library prints about documents.
  const worker = new Worker(new URL('./pdf-worker.ts', import.meta.url), {
    workerData: { bytes, maxPages, maxText, maxArray, maxArrays } satisfies PdfTask,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    ...{ stdout: true, stderr: true, env: {} },
  })
  const ended = Promise.withResolvers<PdfRead | { readonly refused: 'costly' }>()
  const isCostly = () => ended.resolve({ refused: 'costly' })
  const timer = setTimeout(isCostly, timeoutMs)
  worker.once('message', ended.resolve)
  worker.once('error', isCostly)
  worker.once('exit', isCostly)
  try {
    return await ended.promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

/** Opens the reading of documents, each in a thread of its own, which takes the library and its memory with it when it ends. */
export function openPdfReader(timeoutMs: number = pdfLimits.timeoutMs): PdfReader {
  const turns = createTurns({ what: 'documents', places: 1, maxWaiting: { ofKey: 10, inAll: 50 }, perSecond: 1 })
  return { read: (organizationId, bytes, maxText) => turns.run({ key: organizationId, weight: 1 }, () => readInThread(bytes, maxText, timeoutMs)) }
}
