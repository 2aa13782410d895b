import { readFileSync } from 'node:fs'
import type { Command } from './command.ts'

type Asked = Exclude<Command['mode'], 'help'>

const ways: Readonly<Record<'embedded' | 'router' | 'subgraph', readonly string[]>> = {
  embedded: [
    'npm start -- [--port N]',
    '  The whole platform in one process. Without DATABASE_URL it keeps a PostgreSQL of its own in DATA_DIR.',
    'npm run dev',
    '  The same, again after each change of a file.',
  ],
  router: [
    'npm run start:router -- [--port N]',
    '  The router before subgraphs that run as processes of their own.',
    'npm run start:router -- --supergraph FILE [--port N]',
    '  A router before the subgraphs of any supergraph.',
  ],
  subgraph: ['npm run start:subgraph -- SLUG [--port N]', '  One subgraph as a process of its own.'],
}

const options = [
  '  --port N            where to listen; comes before PORT',
  "  --supergraph FILE   start:router alone: a file with the supergraph's SDL",
  '  -h, --help          this text',
]

/** Where every setting is described; the text of `--help` is taken from its table. */
const table = new URL('../../../docs/operating.md', import.meta.url)

/** What `--help` prints for a way to start. */
export function usageOf(mode: Asked): string {
  const settings = readSettings(readFileSync(table, 'utf8'))
  const first = mode === 'bare' ? 'router' : mode
  const others = (['embedded', 'router', 'subgraph'] as const).filter(each => each !== first)
  const width = Math.max(...settings.map(({ names, fallback }) => `${names} [${fallback}]`.length).filter(length => length <= 44))
  return [
    'Usage:',
    ...[first, ...others].flatMap(each => ways[each]).map(line => `  ${line}`),
    '',
    'Options:',
    ...options,
    '',
    'Settings, as variables of the environment [and what holds without them]:',
    ...settings.flatMap(({ names, fallback, promise }) => {
      const head = `  ${`${names} [${fallback}]`.padEnd(width)}`
      return head.length > width + 2 ? [head, `${' '.repeat(width + 4)}${promise}`] : [`${head}  ${promise}`]
    }),
    '',
    'docs/operating.md tells all of each.',
    '',
  ].join('\n')
}

/** One row of the table: names with commas between, the default, and the first sentence of what it does. */
interface Setting {
  readonly names: string
  readonly fallback: string
  readonly promise: string
}

/** The rows of the first table under "Configuration", as plain text. */
export function readSettings(markdown: string): readonly Setting[] {
  const section = markdown.split(/^## /m).find(each => each.startsWith('Configuration')) ?? ''
  return section
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line => {
      const [, names = '', fallback = '', what = ''] = line.split(/(?<!\\)\|/).map(cell => plain(cell.trim()))
      return { names, fallback, promise: /^.*?\.(?= |$)/.exec(what)?.[0] ?? what }
    })
}

const plain = (markdown: string) => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
