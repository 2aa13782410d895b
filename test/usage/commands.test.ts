import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createUsageStore } from '../../router/metrics/usage/store.ts'
import { createSums } from '../../router/metrics/usage/sums.ts'
import { noticedChanges } from '../../schema/released/api.ts'
import { printMistake } from '../../schema/source/mistake.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { launch } from '../kit/launch.ts'

const api = readFileSync('schema/api.graphql', 'utf8')
let database: TestDatabase
let folder: string
const now = Date.now()
const began = new Date(now - 5 * 86_400_000)

beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'usage-'))
  const store = createUsageStore(database.sequelize)
  await store.begin(began)
  const sums = createSums(now)
  const use = (name: string, version: string, operation: string, coordinates: string[], times: number) => {
    const counter = sums.counterOf({ name, version }, operation, 'hash', coordinates)!
    for (let time = 0; time < times; time++) counter.count(now)
  }
  use('web', '3.2', 'PostList', ['Post.copy', 'Post.id', 'Query.posts'], 12)
  use('ios', '2.0', 'Feed', ['Post', 'Post.copy'], 3)
  use('unknown', 'unknown', 'anonymous', ['Viewer.kind'], 1)
  await store.add(sums.take())
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

async function run(script: string, words: readonly string[], environment: Readonly<Record<string, string>> = { DATABASE_URL: database.url }) {
  const command = launch(process.execPath, [`scripts/operate/${script}.ts`, ...words], environment)
  // Its end alone does not say that everything it printed was read.
  const closed = once(command.child, 'close')
  const code = await command.ended
  await closed
  return { code, said: command.said(), complained: command.complained() }
}
const write = async (name: string, text: string) => {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}
const today = new Date(now).toISOString().slice(0, 10)

describe('npm run schema:usage', () => {
  it('writes a line for each coordinate, most used first', async () => {
    const { code, said, complained } = await run('schema-usage', [])
    expect({ code, complained }).toEqual({ code: 0, complained: '' })
    expect(said.split('\n')).toEqual([
      `Post.copy  15  web 3.2 (PostList), ios 2.0 (Feed)  last ${today}`,
      `Post.id  12  web 3.2 (PostList)  last ${today}`,
      `Query.posts  12  web 3.2 (PostList)  last ${today}`,
      `Viewer.kind  1  unknown (anonymous)  last ${today}`,
      '',
    ])
  })

  it('tells one coordinate of one client as JSON, since recording began', async () => {
    const { said } = await run('schema-usage', ['--json', '--coordinate', 'Post.copy', '--client', 'ios'])
    const at = new Date(now).toISOString()
    expect(JSON.parse(said)).toEqual({
      since: began.toISOString(),
      until: expect.any(String),
      days: 30,
      coordinates: [
        {
          ...{ coordinate: 'Post.copy', count: 3, lastUsedAt: at, deprecated: false },
          clients: [{ name: 'ios', version: '2.0', operations: ['Feed'], count: 3, lastUsedAt: at }],
        },
      ],
    })
  })

  it('lists what nobody uses', async () => {
    const { said } = await run('schema-usage', ['--unused'])
    const unused = said.trim().split('\n')
    expect(unused).toEqual(expect.arrayContaining(['Post.status', 'Query.posts(first:)', 'Mutation.createPost', 'CreatePostInput.copy']))
    for (const used of ['Post.copy', 'Post.id', 'Query.posts', 'Viewer.kind']) expect(unused).not.toContain(used)
    expect(JSON.parse((await run('schema-usage', ['--unused', '--json'])).said).unused).toEqual(unused)
  })

  it('exits with 2 and one line for a wrong call, and without a database', async () => {
    for (const words of [['--dayz', '3'], ['--days', '0'], ['more']]) {
      const { code, said, complained } = await run('schema-usage', words)
      expect({ code, said }).toEqual({ code: 2, said: '' })
      expect(complained).toMatch(/^[^\n]+: npm run schema:usage -- .*\n$/)
    }
    const { code, complained } = await run('schema-usage', [], { DATA_DIR: folder })
    expect(code).toBe(2)
    expect(complained).toMatch(/^no platform runs in .*\n$/)
  })
})

describe('npm run schema:check', () => {
  it('exits with 0 where nobody used what breaks', async () => {
    const against = await write('against.graphql', api.replace('type Post {', 'type Post {\n  neverUsed: String\n'))
    const { code, said, complained } = await run('schema-check', ['--against', against])
    expect({ code, said }).toEqual({ code: 0, said: 'unused  FIELD_REMOVED  Post.neverUsed\n1 breaking changes: 0 in use, 1 unused\n' })
    expect(complained).toBe(`use is recorded since ${began.toISOString()}, which is less than 30 days\n`)
    expect((await run('schema-check', ['--against', against, '--days', '4'])).complained).toBe('')
  })

  it('exits with 1 and names the clients of what is in use', async () => {
    const against = await write('released.graphql', api.replace('type Post {', 'type Post {\n  neverUsed: String\n'))
    const proposed = await write('proposed.graphql', api.replace(/(type Post \{[\s\S]*?)\n {2}copy: String!/, '$1'))
    const { code, said } = await run('schema-check', ['--against', against, '--proposed', proposed])
    expect(code).toBe(1)
    expect(said.split('\n').sort()).toEqual([
      '',
      '2 breaking changes: 1 in use, 1 unused',
      'in use  FIELD_REMOVED  Post.copy  15 times in 30 days: web 3.2 (PostList), ios 2.0 (Feed)',
      'unused  FIELD_REMOVED  Post.neverUsed',
    ])
    const { breaking, ...counts } = JSON.parse((await run('schema-check', ['--against', against, '--proposed', proposed, '--json', '--days', '2'])).said)
    expect(counts).toEqual({ days: 2, inUse: 1, unused: 1 })
    expect(breaking.find((each: { used: boolean }) => each.used)).toEqual({
      ...{ kind: 'FIELD_REMOVED', coordinate: 'Post.copy', message: "Field 'copy' was removed from object type 'Post'" },
      ...{
        used: true,
        count: 15,
        lastUsedAt: new Date(now).toISOString(),
        clients: [expect.objectContaining({ name: 'web' }), expect.objectContaining({ name: 'ios' })],
      },
    })
  })

  it('exits with 2 for a wrong call, an unreadable schema, and without a database', async () => {
    const broken = await write('broken.graphql', 'type Query {')
    for (const [words, environment, sentence] of [
      [['--nothing'], undefined, /npm run schema:check/],
      [['--against', broken], undefined, /broken\.graphql is no readable schema: /],
      [['--proposed', join(folder, 'absent')], undefined, /absent is no readable schema: /],
      [[], { DATA_DIR: folder }, /^no platform runs in /],
    ] as const) {
      const { code, complained } = await run('schema-check', words, environment)
      expect({ words, code }).toEqual({ words, code: 2 })
      expect(complained).toMatch(sentence)
      expect(complained.trim()).not.toContain('\n')
    }
  })
})

describe('npm run check', () => {
  const released = 'type Query {\n  viewer: Viewer\n}\ntype Viewer {\n  kind: String\n  gone: String\n}\n'
  const changed = 'type Query {\n  viewer: Viewer\n}\ntype Viewer {\n  left: String\n}\n'
  const noticed = async (environment: Readonly<Record<string, string>>) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const root = await mkdtemp(join(folder, 'project-'))
    await mkdir(join(root, 'schema'))
    await writeFile(join(root, 'schema/api.released.graphql'), released)
    await writeFile(join(root, 'schema/api.graphql'), changed)
    const { mistakes, sentence } = await noticedChanges(root).finally(() => vi.unstubAllEnvs())
    return { mistakes: mistakes.map(printMistake), sentence }
  }

  it('passes breaking changes that nobody used, where a database knows, and says so', async () => {
    const { mistakes, sentence } = await noticed({ DATABASE_URL: database.url })
    expect(mistakes).toEqual([
      expect.stringMatching(/^schema\/api\.released\.graphql:5:3 BREAKING_CHANGE .*'kind' was removed.* Used by unknown \(anonymous\)\.$/),
    ])
    expect(sentence).toBe(`2 breaking changes by use since ${began.toISOString().slice(0, 10)}: 1 in use, 1 unused (FIELD_REMOVED Viewer.gone)`)
  })

  it('counts every breaking change without a database, and says why', async () => {
    const { mistakes, sentence } = await noticed({ DATA_DIR: folder })
    expect(mistakes).toHaveLength(2)
    expect(sentence).toMatch(/^every breaking change counts, because use is not known: no platform runs in /)
  })
})
