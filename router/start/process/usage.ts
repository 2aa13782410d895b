import { documented } from '../../../config/families.ts'
import type { Command } from './command.ts'

type Asked = Exclude<Command['mode'], 'help' | 'database' | 'demo'>

const ways: Readonly<Record<'embedded' | 'apart' | 'router' | 'subgraph', readonly string[]>> = {
  embedded: [
    'npm start -- [--port N]',
    '  The whole platform in one process. Without DATABASE_URL it keeps a PostgreSQL of its own in DATA_DIR.',
    'npm run dev',
    '  The same, again after each change of a file.',
  ],
  apart: [
    'npm run start:apart -- [--replicas publishing=2,router=2] [--port N]',
    '  The whole platform as processes of one machine, any number of each; whichever ends is started again.',
  ],
  router: [
    'npm run start:router -- [--workers N] [--port N]',
    '  The router before subgraphs that run as processes of their own.',
    'npm run start:router -- --supergraph SOURCE [--workers N] [--port N]',
    '  A router before the subgraphs of any supergraph.',
  ],
  subgraph: ['npm run start:subgraph -- SLUG [--port N]', '  One subgraph as a process of its own.'],
}

const options = [
  '  --port N            where to listen; comes before PORT',
  '  --replicas LIST     start:apart alone: how many of each, publishing=2,router=2; one of who is not named',
  "  --supergraph SOURCE start:router alone: where the supergraph's SDL is: a file, http(s) addresses, s3://bucket/key, or uplink",
  '  --workers N         start:router alone: so many processes behind its port, 1 to 64, or auto: one for each core',
  '  -h, --help          this text',
]

/** Returns the `--help` text of a mode. */
export function usageOf(mode: Asked): string {
  const settings = documented.map(({ title, family }) => ({
    title,
    rows: Object.values(family).map(({ name, without, does }) => ({ head: `${name} [${plain(without)}]`, promise: firstSentence(plain(does)) })),
  }))
  const first = mode === 'bare' ? 'router' : mode
  const others = (['embedded', 'apart', 'router', 'subgraph'] as const).filter(each => each !== first)
  const width = Math.max(...settings.flatMap(({ rows }) => rows.map(({ head }) => head.length).filter(length => length <= 44)))
  return [
    'Usage:',
    ...[first, ...others].flatMap(each => ways[each]).map(line => `  ${line}`),
    '',
    'Options:',
    ...options,
    '',
    'Settings, as variables of the environment [and what holds without them]:',
    ...settings.flatMap(({ title, rows }) => [
      `  ${title}:`,
      ...rows.flatMap(({ head, promise }) =>
        head.length > width ? [`    ${head}`, `${' '.repeat(width + 6)}${promise}`] : [`    ${head.padEnd(width)}  ${promise}`],
      ),
    ]),
    '',
    'docs/operating/configuration.md describes each in full.',
    '',
  ].join('\n')
}

const plain = (markdown: string) => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')

const firstSentence = (text: string) => /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
