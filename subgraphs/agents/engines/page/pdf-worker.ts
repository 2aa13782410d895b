import { parentPort, workerData } from 'node:worker_threads'

/** Input of the thread that reads a PDF. */
export interface PdfTask {
  readonly bytes: Uint8Array
  readonly maxPages: number
  /** Characters after which nothing more is read. */
  readonly maxText: number
  /** Bytes of one array that the document may make us allocate, and of all together. */
  readonly maxArray: number
  readonly maxArrays: number
}

/** The text of a document, or why it has none. */
export type PdfRead = { readonly text: string } | { readonly refused: 'damaged' | 'encrypted' | 'pages' }

const { bytes, maxPages, maxText, maxArray, maxArrays } = workerData as PdfTask

// What a document unpacks to stands outside the heap, whose limit does not count it.
let allocated = 0
globalThis.Uint8Array = new Proxy(Uint8Array, {
  construct(target, given: ConstructorParameters<typeof Uint8Array>, newTarget) {
    const [length] = given as readonly unknown[]
    if (typeof length === 'number') {
      allocated += length
      if (length > maxArray || allocated > maxArrays) throw new RangeError('The unpacked document is too large.')
    }
    return Reflect.construct(target, given, newTarget) as object
  },
})

async function read(): Promise<PdfRead> {
  const { getDocumentProxy } = await import('unpdf')
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, disableFontFace: true, useSystemFonts: false, verbosity: 0 })
  if (document.numPages > maxPages) return { refused: 'pages' }
  let text = ''
  for (let number = 1; number <= document.numPages && text.length <= maxText; number += 1) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str
    text += '\n\n'
    page.cleanup()
  }
  return { text }
}

const found = await read().catch((error: Error): PdfRead => ({ refused: error.name === 'PasswordException' ? 'encrypted' : 'damaged' }))
parentPort!.postMessage(found)
