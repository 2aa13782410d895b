import { StartError } from '../../../start-error.ts'
import { standardLines } from './lines.ts'

/** What a process says of itself beside its log: that it is ready, what it changed, that it ends, why it cannot start. */
export interface Tell {
  /** One sentence. @param facts what a collector of JSON lines gets beside it */
  say(sentence: string, facts?: object): void
  /** The same for what an operator should look at: where lines have levels it is a warning. */
  warn(sentence: string, facts?: object): void
  /** The end of a start. @param banner lines for eyes, before the ready line; collectors get `facts` in their place */
  ready(started: { readonly seconds: string; readonly url: string; readonly banner: readonly string[]; readonly facts: object }): void
  /** One readable line for each mistake of the surroundings; a stack only for a mistake of ours. */
  complain(error: unknown): void
}

/** As much of a stream as telling needs. */
interface Lines {
  write(text: string): unknown
}

/** pino's numbers, so that these lines and those of the log are of one form. */
const levels = { info: 30, warn: 40, fatal: 60 }

/**
 * Tells people in plain lines, or collectors in JSON: then every line is one object, of the form that the log's lines have.
 * @param json which of the two
 */
export function createTell(json: boolean, out: Lines = standardLines(), err: Lines = process.stderr): Tell {
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
