import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documented } from '../config/families.ts'
import type { Start } from '../config/setting.ts'
import { inFile, type Mistake } from './source/mistake.ts'

const file = 'docs/operating.md'
const [begin, end] = ['<!-- settings: from config/families.ts, by npm run generate -->', '<!-- end of settings -->']

/** The operator's page with its table of settings as `config/families.ts` has them; a project without such a page has none. */
export async function operatingPage(root: string): Promise<{ readonly files: ReadonlyMap<string, string>; readonly mistakes: readonly Mistake[] }> {
  const page = await readFile(join(root, file), 'utf8').catch(() => null)
  if (page === null) return { files: new Map(), mistakes: [] }
  const [before, rest] = page.split(begin)
  const [, after] = rest?.split(end) ?? []
  if (after !== undefined) return { files: new Map([[file, `${before}${begin}\n\n${tableOf()}\n\n${end}${after}`]]), mistakes: [] }
  const sentence = `has no place for the table of settings: write ${begin} and ${end} where it belongs`
  return { files: new Map(), mistakes: [inFile(file, 'SETTINGS_MISSING', sentence)] }
}

function tableOf(): string {
  const rows = documented.flatMap(({ title, family }) => [
    `| **${title}** | | | |`,
    ...Object.values(family).map(({ name, without, by, does }) => `| \`${name}\` | ${without} | ${readers(by)} | ${does.replaceAll('|', '\\|')} |`),
  ])
  return ['| variable | default | who reads it | what it does |', '|---|---|---|---|', ...rows].join('\n')
}

/** A platform in one process reads what each of its parts would read. */
const readers = (by: readonly Start[]): string => (by.length === 3 ? 'every process' : by.map(each => names[each]).join(', '))

const names: Readonly<Record<Start, string>> = { all: '`start`', router: '`start:router`', subgraph: '`start:subgraph`', apart: '`start:apart`' }
