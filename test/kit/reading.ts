import type { Reading } from '../../subgraphs/reading.ts'

/** For what is read outside of any operation: somebody waits for it, whatever it costs. */
export const unbounded: Reading = { signal: new AbortController().signal, read() {}, statement: run => run() }
