import { StartError } from '../../../start-error.ts'
import { standardLines } from './lines.ts'

/** Messages of a process besides its log: that it is ready, what it changed, that it ends, why it cannot start. */
export interface Reporter {
  /** Prints one sentence. @param facts fields for collectors of JSON lines */
  say(sentence: string, facts?: object): void
  /** Prints one sentence that an operator should look at: a warning, where lines have levels. */
  warn(sentence: string, facts?: object): void
  /** The end of a start. @param banner lines for eyes, before the ready line; collectors get `facts` in their place */
  ready(started: { readonly seconds: string; readonly url: string; readonly banner: readonly string[]; readonly facts: object }): void
  /** Prints one readable line for an error of the environment; a stack only for a mistake of ours. */
  complain(error: unknown): void
}

/** The parts of a stream that messages need. */
interface Lines {
  write(text: string): unknown
}

/** pino's level numbers, so that these lines have the form of the log's. */
const levels = { info: 30, warn: 40, fatal: 60 }

/**
 * Prints plain lines for people, or JSON for collectors, in the form of the log's lines.
 * @param json whether to print JSON
 */
export function createReporter(json: boolean, out: Lines = standardLines(), err: Lines = process.stderr): Reporter {
  const line = (stream: Lines, level: keyof typeof levels, msg: string, facts: object = {}) =>
    stream.write(json ? `${JSON.stringify({ level: levels[level], time: Date.now(), ...facts, msg })}\n` : `${msg}\n`)
  return {
    say: (sentence, facts) => line(out, 'info', sentence, facts),
    warn: (sentence, facts) => line(out, 'warn', sentence, facts),
    ready({ seconds, url, banner, facts }) {
      if (!json) for (const each of banner) line(out, 'info', each)
      line(out, 'info', `ready in ${seconds} s: ${url}`, { url, ...facts })
    },
    complain(error) {
      if (error instanceof StartError) for (const each of error.message.split('\n')) line(err, 'fatal', each)
      // Prints only the stack: errors of the database driver contain the statement's values.
      else if (json && error instanceof Error) line(err, 'fatal', error.message, { err: { type: error.name, stack: error.stack } })
      else line(err, 'fatal', String(error instanceof Error ? error.stack : error))
    },
  }
}
