import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documented } from '../config/families.ts'
import type { Family, Start } from '../config/setting.ts'
import { inFile, type Mistake } from './source/mistake.ts'

const file = 'docs/operating/configuration.md'
const [begin, end] = ['<!-- settings: from config/families.ts, by npm run generate -->', '<!-- end of settings -->']

/**
 * Returns the operator's page of settings with tables generated from `config/families.ts`; no files for a project
 * without such a page.
 */
export async function configurationPage(root: string): Promise<{ readonly files: ReadonlyMap<string, string>; readonly mistakes: readonly Mistake[] }> {
  const page = await readFile(join(root, file), 'utf8').catch(() => null)
  if (page === null) return { files: new Map(), mistakes: [] }
  const [before, rest] = page.split(begin)
  const [, after] = rest?.split(end) ?? []
  if (after !== undefined) return { files: new Map([[file, `${before}${begin}\n\n${tables()}\n\n${end}${after}`]]), mistakes: [] }
  const sentence = `has no place for the tables of settings: write ${begin} and ${end} where they belong`
  return { files: new Map(), mistakes: [inFile(file, 'SETTINGS_MISSING', sentence)] }
}

const tables = (): string => documented.map(({ title, family }) => `### ${title}\n\n${tableOf(family)}`).join('\n\n')

/** Returns a table of one family, with a column of readers where they differ, and otherwise a line above it. */
function tableOf(family: Family): string {
  const rows = Object.values(family)
  const [reader, ...others] = [...new Set(rows.map(({ by }) => readers(by)))]
  const differs = others.length > 0
  const lines = rows.map(({ name, without, by, does }) => row([`\`${name}\``, without, ...(differs ? [readers(by)] : []), does.replaceAll('|', '\\|')]))
  const head = ['setting', 'default', ...(differs ? ['read by'] : []), 'what it does']
  const table = [row(head), `|${'---|'.repeat(head.length)}`, ...lines].join('\n')
  return differs || reader === everyProcess ? table : `Read by ${reader}.\n\n${table}`
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const everyProcess = 'every process'

/** Names the processes that read a setting. A platform in one process reads all of them. */
function readers(by: readonly Start[]): string {
  const parts = by.filter(each => each === 'router' || each === 'subgraph')
  const kind = parts.length === 1 ? `${parts[0]}s` : 'processes'
  if (!by.includes('all')) return `distributed ${kind}`
  if (parts.length === 2) return everyProcess
  return parts.length === 1 ? kind : '`start`, `start:apart`'
}
