import { parseArgs } from 'node:util'
import { StartError } from '../../../start-error.ts'

/** What a command line asks for, with the variables that it sets. */
export type Command = { readonly given: Readonly<Record<string, string>> } & (
  | { readonly mode: 'embedded' | 'router' }
  | {
      readonly mode: 'apart'
      /** How many of each, as it was written. */
      readonly replicas: string
    }
  | {
      /** What processes apart need, and only `apart` starts. */
      readonly mode: 'database' | 'demo'
    }
  | {
      readonly mode: 'bare'
      /** File with the supergraph's SDL, as it was written. */
      readonly supergraph: string
    }
  | {
      readonly mode: 'subgraph'
      /** Its slug, as it was written. */
      readonly slug: string
    }
  | {
      /** Only to be told how this, or another way, is started. */
      readonly mode: 'help'
      readonly of: 'embedded' | 'apart' | 'router' | 'subgraph'
    }
)

const usage =
  'npm start, npm run start:apart -- [--replicas publishing=2,router=2], npm run start:router -- [--supergraph FILE] [--port N], or npm run start:subgraph -- SLUG [--port N]; --help tells more'

/**
 * Reads the command line: nothing for the whole platform in one process, `router` for its router alone, `router --supergraph FILE`
 * for a router before any subgraphs, `subgraph SLUG` for one subgraph, `apart` for all of them as processes of one machine; `--help` with any of them.
 * @throws StartError with one line for what it does not know
 */
export function readCommand(words: readonly string[]): Command {
  const { values, positionals } = parsed(words)
  const [mode, slug, ...rest] = positionals
  const given = { ...(values.port !== undefined && { PORT: values.port }) }
  const unknown = (word: string) => new StartError(`"${word}" on the command line means nothing here: ${usage}`)
  if (values.help) return { mode: 'help', of: mode === 'router' || mode === 'subgraph' || mode === 'apart' ? mode : 'embedded', given }
  if (rest[0] !== undefined) throw unknown(rest[0])
  if (values.replicas !== undefined && mode !== 'apart') throw unknown('--replicas')
  if (mode === 'subgraph') {
    if (slug === undefined) throw new StartError(`the subgraph's name is missing: ${usage}`)
    if (values.supergraph !== undefined) throw unknown('--supergraph')
    return { mode, slug, given }
  }
  if (slug !== undefined) throw unknown(slug)
  if (mode === 'router') return values.supergraph === undefined ? { mode, given } : { mode: 'bare', supergraph: values.supergraph, given }
  if (mode === 'apart' && values.supergraph === undefined) return { mode, replicas: values.replicas ?? '', given }
  if (mode === 'database' || mode === 'demo') return { mode, given }
  if (mode !== undefined && mode !== 'apart') throw unknown(mode)
  if (values.supergraph !== undefined) throw unknown('--supergraph')
  return { mode: 'embedded', given }
}

function parsed(words: readonly string[]) {
  const options = { supergraph: { type: 'string' }, port: { type: 'string' }, replicas: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options })
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}: ${usage}`, error)
  }
}
