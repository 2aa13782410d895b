import { setFlagsFromString } from 'node:v8'

// V8 keeps the source and code of every generated function for the life of the process (Node 26: 1.6 kB at least), and each client
// operation generates its own. Said once, before anything is served; it concerns
// functions that are made of texts, ours and those of graphql-jit, and costs nothing elsewhere.
setFlagsFromString('--no-compilation-cache')

/** Whether this process may make functions out of text; `--disallow-code-generation-from-strings` and the like forbid it. */
const mayGenerate: boolean = (() => {
  try {
    return new Function('return true')() === true
  } catch {
    return false
  }
})()

/**
 * Makes a value out of a function's body, with other values under the given names. The body is only ever written from plans
 * and schemas; every word of theirs goes through `literal`.
 */
export const generate = <Made>(body: string, names: Readonly<Record<string, unknown>> = {}): Made =>
  new Function(...Object.keys(names), `'use strict'\n${body}`)(...Object.values(names)) as Made

/** A text as it is written in code. */
export const literal = (text: string): string => JSON.stringify(text)

/** How often something runs before code is made for it: what is asked once costs less when it is only interpreted. */
const coldRuns = 2

/**
 * The interpreting form of something for its first runs, then the generated form.
 * @param heat makes the generated form; undefined when none can be made, then the interpreting one stays
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
