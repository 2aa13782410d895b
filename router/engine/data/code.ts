import { setFlagsFromString } from 'node:v8'

// V8 keeps the source and code of every generated function for the life of the process (Node 26: at least 1.6 kB), and
// each client operation generates its own. The flag is set before the first request. It concerns functions made from
// text, ours and those of graphql-jit, and costs nothing elsewhere.
setFlagsFromString('--no-compilation-cache')

/**
 * Whether this process may create functions from text; options such as `--disallow-code-generation-from-strings` forbid
 * it.
 */
const mayGenerate: boolean = (() => {
  try {
    return new Function('return true')() === true
  } catch {
    return false
  }
})()

/**
 * Creates a value from the body of a function, with other values under the given names. The body is generated from
 * plans and schemas only; every text of theirs is escaped by `literal`.
 */
export const generate = <Made>(body: string, names: Readonly<Record<string, unknown>> = {}): Made =>
  new Function(...Object.keys(names), `'use strict'\n${body}`)(...Object.values(names)) as Made

/** Writes a text as a JavaScript string literal. */
export const literal = (text: string): string => JSON.stringify(text)

/**
 * How many interpreted runs come before code is generated: for an operation that runs once, interpreting costs less.
 */
const coldRuns = 2

/**
 * Uses the interpreting form of a function for its first runs, then the generated form.
 * @param heat generates the code; undefined when none can be generated, and the interpreting form stays
 */
export function warming<Form>(cold: Form, heat: () => Form | undefined): () => Form {
  let form = cold
  let runs = mayGenerate ? 0 : Number.POSITIVE_INFINITY
  return () => {
    if (runs < coldRuns) runs++
    else if (runs === coldRuns) {
      runs = Number.POSITIVE_INFINITY
      form = heat() ?? cold
    }
    return form
  }
}
