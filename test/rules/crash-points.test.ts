import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const project = join(import.meta.dirname, '..', '..')
const sources = ['config', 'db', 'platform', 'router', 'scripts', 'subgraphs']

/** Every file of these folders that ends so. */
const filesIn = (folders: readonly string[], end: string): string[] =>
  folders.flatMap(folder =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith(end))
      .map(name => join(project, folder, name)),
  )

/** What stands between quotes there. */
const quoted = (files: readonly string[], pattern: RegExp) =>
  new Set(files.flatMap(file => [...readFileSync(file, 'utf8').matchAll(pattern)].map(found => found[1]!)))

test('at every named crash point some test lets a process die', () => {
  const named = quoted(filesIn(sources, '.ts'), /\bcrash\('([^']+)'\)/g)
  const tried = quoted(
    filesIn(['test'], '.test.ts').filter(file => !file.endsWith('rules/crash-points.test.ts')),
    /'([a-z]+(?:-[a-z]+)+)'/g,
  )
  expect(named.size).toBeGreaterThan(30)
  expect([...named].filter(name => !tried.has(name)).sort()).toEqual([])
})
