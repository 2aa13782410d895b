import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/** Destination of a process's lines: its log, and its messages for people. */
export interface Lines {
  /** Writes whole lines; lines that nobody reads are dropped at some point. */
  write(text: string): void
  /** Waits until written lines are flushed, at most so many ms. */
  written(withinMs: number): Promise<void>
}

/** Maximum characters that wait for a reader. */
const mostWaiting = 8 * 1024 * 1024

/**
 * Writes to a stream of the process without waiting for its reader: waiting text is bounded, and beyond the bound lines
 * are dropped and counted in one line once reading continues. The same holds for a file on a full disk.
 * @param most characters that may wait
 */
export function createLines(stream: Writable & { readonly fd?: number }, most = mostWaiting): Lines {
  let leftOut = 0
  const put = (text: string): boolean => {
    // Files are written at once, by Node as well; but to Node the first mistake is the end of them.
    if (stream instanceof Socket || stream.fd === undefined) return stream.write(text) || true
    try {
      writeSync(stream.fd, text)
      return true
    } catch {
      return false
    }
  }
  return {
    write(text) {
      // After lines were dropped, logging resumes once there is room for many.
      if (stream.writableLength + text.length > (leftOut === 0 ? most : most / 2)) {
        leftOut += 1
        return
      }
      if (leftOut > 0 && put(`${JSON.stringify({ level: 40, time: Date.now(), leftOut, msg: 'lines were left out here, for nobody took them' })}\n`))
        leftOut = 0
      if (leftOut > 0 || !put(text)) leftOut += 1
    },
    async written(withinMs) {
      if (stream.writableLength === 0 || stream.destroyed) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, withinMs)
      stream.write('', () => resolve())
      await promise
      clearTimeout(late)
    },
  }
}

let standard: Lines | undefined

/** Returns the lines of standard output, of which a process has one. */
export function standardLines(): Lines {
  standard ??= createLines(process.stdout)
  return standard
}
