import type { Reading } from '../../platform/sql/reading.ts'

/** For what is read outside of any operation: somebody waits for it, whatever it costs. */
export const unbounded: Reading = { signal: new AbortController().signal, read() {}, statement: run => run() }
