import { parseArgs } from 'node:util'
import { StartError } from '../../db/start-error.ts'

/** What a command line asks for. */
export type Command = { readonly given: Readonly<Record<string, string>> } & (
  | { readonly mode: 'embedded' }
  | {
      readonly mode: 'bare'
      /** File with the supergraph's SDL, as it was written. */
      readonly supergraph: string
    }
)

const usage = 'npm run start:router -- --supergraph FILE [--port N]'

/**
 * Reads the command line: nothing for the whole platform, `router --supergraph FILE` for a router before any subgraphs.
 * @throws StartError with one line for what it does not know
 */
export function readCommand(words: readonly string[]): Command {
  const { values, positionals } = parsed(words)
  const [mode, ...rest] = positionals
  const unknown = rest[0] ?? (mode === undefined || mode === 'router' ? undefined : mode)
  if (unknown !== undefined) throw new StartError(`"${unknown}" on the command line means nothing here: ${usage}`)
  const given = { ...(values.port !== undefined && { PORT: values.port }) }
  if (mode === undefined && values.supergraph === undefined) return { mode: 'embedded', given }
  if (!values.supergraph) throw new StartError(`--supergraph FILE is missing: ${usage}`)
  return { mode: 'bare', supergraph: values.supergraph, given }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options: { supergraph: { type: 'string' }, port: { type: 'string' } } })
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}: ${usage}`, error)
  }
}
