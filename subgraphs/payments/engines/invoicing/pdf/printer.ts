import { Worker } from 'node:worker_threads'
import { createTurns } from '../../../../../platform/jobs/turns.ts'
import type { InvoiceDocument } from './document.ts'

/** Prints invoices as PDF. */
export interface Printer {
  /**
   * Returns an invoice as PDF, the same bytes each time. Organizations take turns.
   * @throws RATE_LIMITED with `retryAfter` when too many documents of the organization wait; Error when the thread fails or takes too long
   */
  print(organizationId: string, invoice: InvoiceDocument): Promise<Uint8Array>
  /** Ends the thread; what is being printed fails. */
  stop(): void
}

/** How long a document may take, its thread's start included, and how long the thread stays without work, in ms. */
const [timeoutMs, idleMs] = [20_000, 60_000]
/** How many documents wait, of an organization and in all, and about how many are printed in a second. */
const waiting = { maxWaiting: { ofKey: 50, inAll: 500 }, perSecond: 5 }

/** Prints in a thread of its own: fonts and library take a fifth of a second of work to load, and some 60 MB, which go when nobody prints. */
export function openPrinter(): Printer {
  const turns = createTurns({ what: 'documents', places: 1, ...waiting })
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined

  const begin = (): Worker => {
    const begun = new Worker(new URL('./pdf-worker.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 256 } })
    begun.unref()
    // Errors while nothing is being printed are ignored.
    begun.on('error', () => {})
    begun.once('exit', () => {
      if (worker === begun) worker = undefined
    })
    return begun
  }

  const end = () => {
    clearTimeout(idle)
    void worker?.terminate()
    worker = undefined
  }

  async function printed(invoice: InvoiceDocument): Promise<Uint8Array> {
    clearTimeout(idle)
    worker ??= begin()
    const present = worker
    const result = Promise.withResolvers<Uint8Array>()
    const fail = (cause?: unknown) => result.reject(new Error('an invoice could not be printed', { cause }))
    const timer = setTimeout(fail, timeoutMs)
    present.once('message', result.resolve).once('error', fail).once('exit', fail)
    present.postMessage(invoice)
    try {
      const bytes = await result.promise
      idle = setTimeout(end, idleMs).unref()
      return bytes
    } catch (error) {
      end()
      throw error
    } finally {
      clearTimeout(timer)
      present.off('message', result.resolve).off('error', fail).off('exit', fail)
    }
  }

  return { print: (organizationId, invoice) => turns.run({ key: organizationId, weight: 1 }, () => printed(invoice)), stop: end }
}
