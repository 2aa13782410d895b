import { parentPort } from 'node:worker_threads'
import type { Encoding } from '../../engines/models/engine.ts'

/** Text that the worker thread counts. */
export interface CountTask {
  readonly encoding: Encoding
  readonly text: string
}

/** Characters counted at once: the time for a word without an end grows with its square. */
const windowChars = 512

const load = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
}

/** Returns the end of a window: before a space, if its second half has one. */
function endOf(text: string, begins: number): number {
  const end = begins + windowChars
  if (end >= text.length) return text.length
  for (let at = end; at > end - windowChars / 2; at--) if (/\s/.test(text[at]!)) return at
  // Surrogate pairs are not split.
  return /[\udc00-\udfff]/.test(text[end]!) ? end - 1 : end
}

parentPort!.on('message', async ({ encoding, text }: CountTask) => {
  const { countTokens } = await load[encoding]()
  let tokens = 0
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, at)
    // Text that looks like a special token of the tokenizer is ordinary text.
    tokens += countTokens(text.slice(at, end), { disallowedSpecial: new Set() })
    at = end
  }
  parentPort!.postMessage(tokens)
})
