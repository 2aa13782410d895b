import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { StartError } from '../../../start-error.ts'

/** The parsed command line, with the variables that it sets. */
export type Command = { readonly given: Readonly<Record<string, string>> } & (
  | { readonly mode: 'embedded' }
  | { readonly mode: 'router'; readonly workers: number | null }
  | {
      readonly mode: 'apart'
      /** Number of replicas of each part, as written. */
      readonly replicas: string
    }
  | {
      /** Modes that only `apart` starts. */
      readonly mode: 'database' | 'demo'
    }
  | {
      readonly mode: 'bare'
      /** Where the supergraph's SDL is, as written: a file, addresses, `s3://bucket/key`, or `uplink`. */
      readonly supergraph: string
      readonly workers: number | null
    }
  | {
      readonly mode: 'subgraph'
      /** Slug of the subgraph, as written. */
      readonly slug: string
    }
  | {
      /** Prints the help of this, or another mode. */
      readonly mode: 'help'
      readonly of: 'embedded' | 'apart' | 'router' | 'subgraph'
    }
)

const usage =
  'npm start, npm run start:apart -- [--replicas publishing=2,router=2], npm run start:router -- [--supergraph SOURCE] [--workers N] [--port N], or npm run start:subgraph -- SLUG [--port N]; --help tells more'

/**
 * Reads the command line: nothing for the whole platform in one process, `router` for its router alone, `router
 * --supergraph SOURCE` for a router before any subgraphs, `subgraph SLUG` for one subgraph, `apart` for all of them as
 * processes of one machine; `--help` with any of them.
 * @param source of a router's supergraph where the command line names none; null: the platform's own
 * @throws StartError with one line for an unknown argument
 */
export function readCommand(words: readonly string[], source: string | null = null): Command {
  const { values, positionals } = parsed(words)
  const [mode, slug, ...rest] = positionals
  const given = { ...(values.port !== undefined && { PORT: values.port }) }
  const unknown = (word: string) => new StartError(`"${word}" on the command line means nothing here: ${usage}`)
  if (values.help) return { mode: 'help', of: mode === 'router' || mode === 'subgraph' || mode === 'apart' ? mode : 'embedded', given }
  if (rest[0] !== undefined) throw unknown(rest[0])
  if (values.replicas !== undefined && mode !== 'apart') throw unknown('--replicas')
  if (values.workers !== undefined && mode !== 'router') throw onlyRouters(mode)
  if (mode === 'subgraph') {
    if (slug === undefined) throw new StartError(`the subgraph's name is missing: ${usage}`)
    if (values.supergraph !== undefined) throw unknown('--supergraph')
    return { mode, slug, given }
  }
  if (slug !== undefined) throw unknown(slug)
  if (mode === 'router') {
    const workers = values.workers === undefined ? null : readWorkers(values.workers)
    const supergraph = values.supergraph ?? source
    return supergraph === null ? { mode, workers, given } : { mode: 'bare', supergraph, workers, given }
  }
  if (mode === 'apart' && values.supergraph === undefined) return { mode, replicas: values.replicas ?? '', given }
  if (mode === 'database' || mode === 'demo') return { mode, given }
  if (mode !== undefined && mode !== 'apart') throw unknown(mode)
  if (values.supergraph !== undefined) throw unknown('--supergraph')
  return { mode: 'embedded', given }
}

/** Maximum number of workers of one router. */
const mostWorkers = 64

/** Reads how many workers a router is to have. @throws StartError for anything but 1 to 64, or `auto` */
function readWorkers(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), mostWorkers)
  const count = /^[1-9]\d?$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= mostWorkers) return count
  throw new StartError(`--workers: "${text}" is not understood: write a number from 1 to ${mostWorkers}, or auto for as many as there are cores`)
}

/** Error for a number of workers on anything but a router, with the alternative. */
const onlyRouters = (mode: string | undefined): StartError => {
  const instead: Readonly<Record<string, string>> = {
    apart: 'npm run start:apart takes --replicas router=2',
    subgraph: 'run a subgraph several times, and name each in its <NAME>_URL',
  }
  return new StartError(
    `--workers: npm run start:router alone takes it: ${instead[mode ?? ''] ?? 'npm start is one process; npm run start:apart -- --replicas router=2 uses more cores'}`,
  )
}

function parsed(words: readonly string[]) {
  const text = { type: 'string' } as const
  const options = { supergraph: text, port: text, replicas: text, workers: text, help: { type: 'boolean', short: 'h' } } as const
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options })
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}: ${usage}`, error)
  }
}
