import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { identify } from '../../db/process-table.ts'
import { watchProject } from '../../scripts/dev/watch.ts'
import { askAt } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { gone, launch, newDataFolder, platformEnvironment, until } from '../kit/launch.ts'

const project = join(import.meta.dirname, '..', '..')

/** Saves as many editors do: beside the file, then in its place. */
function save(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, `${path}~`), text)
  renameSync(join(root, `${path}~`), join(root, path))
}

test('a watcher reports repeated saves by renaming, new folders, moves and removals; nothing twice, and nothing irrelevant', async () => {
  await using folder = newDataFolder()
  const root = folder.path
  save(root, 'src/a.ts', '1')
  save(root, 'other/a.ts', '1')
  const watcher = watchProject(root, { folders: ['src', 'later'], counts: path => path.endsWith('.ts') })
  const after = async (act: () => void) => {
    const changes = watcher.changes()
    act()
    return changes
  }
  try {
    for (const text of ['22', '333', '4444']) expect(await after(() => save(root, 'src/a.ts', text))).toEqual(['src/a.ts'])
    expect(await after(() => save(root, 'src/deep/er/b.ts', '1'))).toEqual(['src/deep/er/b.ts'])
    expect(await after(() => save(root, 'src/deep/er/b.ts', '22'))).toEqual(['src/deep/er/b.ts'])
    expect(await after(() => renameSync(join(root, 'src/deep'), join(root, 'src/moved')))).toEqual(['src/deep/er/b.ts', 'src/moved/er/b.ts'])
    expect(await after(() => rmSync(join(root, 'src/moved'), { recursive: true }))).toEqual(['src/moved/er/b.ts'])
    expect(await after(() => save(root, 'later/c.ts', '1'))).toEqual(['later/c.ts'])
    expect(await after(() => save(root, 'root.ts', '1'))).toEqual(['root.ts'])
    save(root, 'src/a.ts', '55555')
    save(root, 'src/notes.md', 'x')
    save(root, 'other/a.ts', '22')
    expect(watcher.look()).toEqual(['src/a.ts'])
    // Former output is skipped.
    expect(await after(() => save(root, 'src/d.ts', '1'))).toEqual(['src/d.ts'])
  } finally {
    watcher.close()
  }
})

test('`npm run dev` generates and restarts after each save; after a mistake it shows the place and keeps running; Ctrl-C ends all', {
  timeout: 240_000,
}, async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const root = join(folder.path, 'checkout')
  for (const name of [
    'package.json',
    '.npmrc',
    'config.ts',
    'carriers',
    'config',
    'start-error.ts',
    'codegen.ts',
    'supergraph.yaml',
    'db',
    'docs',
    'platform',
    'router',
    'sandbox',
    'schema',
    'scripts',
    'subgraphs',
    'tsconfig.json',
    'web',
  ])
    cpSync(join(project, name), join(root, name), { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const dev = launch('npm', ['run', 'dev'], environment, { cwd: root })
  const complained = () => dev.complained()
  let starts = 0
  const started = () => until('the platform is ready again', () => (dev.said().match(/^ready in/gm) ?? []).length === starts + 1 && ++starts, 60)
  const refused = (pattern: RegExp) => until(`it shows ${pattern}`, () => pattern.test(complained()) && /the platform goes on as it was/.test(dev.said()), 60)
  const ask = (query: string) => askAt(`http://localhost:${environment.PORT}`, query)
  const fieldNames = '{ __type(name: "Brand") { fields { name } } }'
  const file = 'subgraphs/publishing/brand/schema.graphql'
  const sdl = readFileSync(join(root, file), 'utf8')
  const withField = (line: string) => sdl.replace(/(type Brand[^{]*\{\n)/, `$1  ${line}\n`)

  await started()
  const { pid } = folder.node()!

  // A mistake in a schema file.
  save(root, file, withField('"Its sign." motto: Strin'))
  await refused(/brand\/schema\.graphql:\d+:\d+ .*Strin/)
  expect(folder.node()!.pid).toBe(pid)
  expect(JSON.stringify((await ask(fieldNames)).data())).not.toContain('motto')

  // Mended, this time saved by renaming.
  save(root, file, withField('"Its sign." motto: String'))
  await started()
  expect(JSON.stringify((await ask(fieldNames)).data())).toContain('motto')
  expect(readFileSync(join(root, 'subgraphs/publishing/resolvers.generated.ts'), 'utf8')).toContain('motto')
  expect(dev.said()).toMatch(/^dev: wrote schema\/api\.graphql$/m)

  // A mistake in the program.
  const running = folder.node()!.pid
  const rules = readFileSync(join(root, 'subgraphs/publishing/brand/rules.ts'), 'utf8')
  save(root, 'subgraphs/publishing/brand/rules.ts', `${rules}\nexport const broken = {\n`)
  await refused(/subgraphs\/publishing\/brand\/rules\.ts:\d+\n[\s\S]*SyntaxError/)
  expect(folder.node()!.pid).toBe(running)
  save(root, 'subgraphs/publishing/brand/rules.ts', rules)
  await started()

  // Half of a new mutation: its resolver is not written yet.
  const post = 'subgraphs/publishing/post/schema.graphql'
  const mutations = readFileSync(join(root, post), 'utf8')
  const before = folder.node()!.pid
  save(root, post, `${mutations}\nextend type Mutation {\n  "Waves."\n  wave: Post @requiresScopes(scopes: [["publishing:posts.write"]])\n}\n`)
  await refused(/Mutation\.wave has no resolver in subgraphs\/publishing/)
  expect(folder.node()!.pid).toBe(before)
  save(root, post, mutations)
  await started()

  // A migration that fails, after which nothing runs; and one that does not.
  save(root, 'db/migrations/publishing/9998_mottos.sql', 'create table mottos (id uid);')
  await until('the start has failed', () => /^dev: the platform has ended; the next save tries again$/m.test(dev.said()), 60)
  expect(complained()).toContain('migration publishing/9998_mottos.sql fails: type "uid" does not exist')
  save(root, 'db/migrations/publishing/9998_mottos.sql', 'create table mottos (id uuid);')
  await started()
  expect((await database.sequelize.query("select to_regclass('publishing.mottos') is not null as made"))[0]).toEqual([{ made: true }])

  const last = folder.node()!
  const npm = identify(dev.child.pid!)!
  process.kill(-dev.child.pid!, 'SIGINT')
  await Promise.all([gone(last), gone(npm), dev.ended])
  expect(dev.said()).toMatch(/^stopped$/m)
  expect(folder.node()).toBeNull()
})
