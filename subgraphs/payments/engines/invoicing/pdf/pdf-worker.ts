import { parentPort } from 'node:worker_threads'
import type { InvoiceDocument } from './document.ts'

// Loads the library and the fonts when something is first printed.
parentPort!.on('message', async (invoice: InvoiceDocument) => {
  const { printInvoice } = await import('./invoice-page.ts')
  parentPort!.postMessage(await printInvoice(invoice))
})
