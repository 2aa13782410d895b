import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { breachesIn, broken } from '../../schema/laws.ts'
import { takeApart } from '../../schema/source/source-text.ts'
import { slugs } from '../../subgraphs/scopes.ts'
import { project } from './project.ts'

const codes = (file: string, source: string): readonly string[] => breachesIn(file, source).map(({ line, code }) => `${line} ${code}`)

describe('the laws of the house', () => {
  test('refuse import() of anything but a plain string', () => {
    expect(codes('router/a.ts', "await import('./b.ts')\nawait import(`./${name}.ts`)\nawait import(name)\n")).toEqual([
      '2 IMPORT_NOT_LITERAL',
      '3 IMPORT_NOT_LITERAL',
    ])
  })

  test('refuse to reach into the router by address, and allow to read derived SDL', () => {
    expect(
      codes('subgraphs/a/b.ts', "new URL('../../router/main.ts', import.meta.url)\nnew URL('../../schema/subgraphs/a.graphql', import.meta.url)\n"),
    ).toEqual(['1 IMPORT_ACROSS'])
  })

  test('keep the apps of web/ apart, and server code out of browsers', () => {
    const source =
      "import '../../design/a.tsx'\nimport '../../shell/b.ts'\nimport '../../launcher/c.tsx'\nimport '../../../platform/d.ts'\nimport '../../serve/e.ts'\n"
    expect(codes('web/publishing/posts/posts.tsx', source)).toEqual(['3 IMPORT_WEB', '4 IMPORT_WEB', '5 IMPORT_WEB'])
    expect(codes('web/design/parts/a.tsx', "import '../../shell/b.ts'\n")).toEqual(['1 IMPORT_WEB'])
    expect(codes('web/serve/mount.ts', "import '../../platform/d.ts'\n")).toEqual([])
  })

  test('refuse the database’s own time in SQL, not a clock’s', () => {
    const source = "// now() would be wrong\nclock.now()\nconst a = 'update t set at = now()'\nconst b = `select ${clock.now()} < CURRENT_TIMESTAMP`\n"
    expect(codes('subgraphs/a/store.ts', source)).toEqual(['3 TIME_IN_SQL', '4 TIME_IN_SQL'])
    expect(codes('db/migrate.ts', source)).toEqual([])
  })

  test('refuse async generators between an event and the door', () => {
    const source = 'async function* a() {}\nconst b = { async *c() {} }\nfunction* d() {}\n// async function* in words\n'
    for (const file of ['router/live/a.ts', 'router/engine/a.ts', 'subgraphs/a/b/resolvers.ts'])
      expect(codes(file, source)).toEqual(['1 ASYNC_GENERATOR', '2 ASYNC_GENERATOR'])
    expect(codes('test/kit/a.ts', source)).toEqual([])
  })

  test('forbid floating point in payments, in code and in SQL, and nowhere else', () => {
    const source = [
      'const a = 0.5 // 1.5 in words',
      "const b = Number.parseFloat('1')",
      'const c = (1).toFixed(2)',
      'const d = Math.round(1)',
      'const e = 1e3',
      "const f = 'select 1::numeric, amount_minor::bigint'",
      "const rate = '8.875'",
      'const [total, part] = [999_999_999_999n, line.parts[0].amount]',
    ].join('\n')
    const found = ['1', '2', '3', '4', '5'].map(line => `${line} FLOATING_POINT`)
    expect(codes('subgraphs/payments/order/rules.ts', source)).toEqual([...found, '6 FLOATING_POINT_IN_SQL'])
    expect(codes('subgraphs/publishing/post/rules.ts', source)).toEqual([])
  })

  test('refuse code of more than 400 lines, comments and tests apart', () => {
    const line = 'export const a = 1\n'
    expect(codes('platform/a.ts', line.repeat(400) + '// why\n\n'.repeat(50))).toEqual([])
    expect(codes('platform/a.ts', line.repeat(401))).toEqual(['1 FILE_TOO_LONG'])
    expect(codes('test/a.test.ts', line.repeat(401))).toEqual([])
  })

  test('refuse functions of more than 120 lines in product code, whatever form they have', () => {
    const body = '  a()\n'.repeat(119)
    const forms = [`function one(b: string): Promise<void> {\n${body}}\n`, `const two = async (b: string): Promise<{ a: number }> => {\n${body}}\n`]
    forms.push(`class C {\n  run(b: Map<string, () => void>) {\n${body}}\n}\n`, `const three = b => ({\n${body}})\n`)
    for (const form of forms) {
      expect(codes('router/a.ts', form), form.slice(0, 40)).toEqual([expect.stringMatching(/^[12] FUNCTION_TOO_LONG$/)])
      expect(codes('router/a.ts', form.replace('  a()\n', '')), form.slice(0, 40)).toEqual([])
      expect(codes('sandbox/a.ts', form)).toEqual([])
    }
    expect(codes('router/a.ts', `const texts = {\n${body}}\nif (texts) {\n${body}}\nswitch (texts) {\n${body}}\n`)).toEqual([])
  })

  test('let a subgraph import its own folder, shared folders and the platform, and nothing else of ours', () => {
    const own = "import { a } from './b.ts'\nimport type { c } from '../../page.ts'\nexport { d } from '../e/f.ts'\nimport '../../../platform/ids.ts'\n"
    expect(
      codes('subgraphs/toys/toy/rules.ts', `${own}import pg from 'pg'\nconst sql = "select 1 from '../../books/book'" // from '../../books/x.ts'\n`),
    ).toEqual([])
    const foreign = ['../../books/book/rules.ts', '../../../router/main.ts', '../../../config.ts', '../../toysold/a.ts']
    for (const specifier of foreign) {
      expect(codes('subgraphs/toys/toy/rules.ts', `\nimport { a } from '${specifier}'\n`), specifier).toEqual(['2 IMPORT_ACROSS'])
      expect(codes('subgraphs/toys/toy/rules.ts', `const a = await import('${specifier}')\n`), specifier).toEqual(['1 IMPORT_ACROSS'])
    }
    expect(codes('subgraphs/page.ts', "import { a } from './toys/toy/rules.ts'\nimport { b } from './keyset.ts'\n")).toEqual(['1 IMPORT_ACROSS'])
    expect(codes('platform/ids.ts', "import { a } from '../subgraphs/page.ts'\nimport { b } from './clock.ts'\n")).toEqual(['1 IMPORT_ACROSS'])
    expect(codes('router/main.ts', "import { a } from '../subgraphs/toys/toy/rules.ts'\n")).toEqual([])
  })

  test('let engines import stores and engines of their subgraph alone, and stores no engine', () => {
    const imports =
      "import '../../stores/toy.ts'\nimport '../../engines/shelf/shelf.ts'\nimport '../../context.ts'\nimport '../../toy/rules.ts'\nimport '../../../viewer.ts'\nimport '../../ask.generated.ts'\nimport '../../../../platform/sql/table.ts'\n"
    expect(codes('subgraphs/toys/stores/kinds/kind.ts', imports)).toEqual(['2 IMPORT_LAYER'])
    expect(codes('subgraphs/toys/engines/prices/prices.ts', imports)).toEqual(['3 IMPORT_LAYER', '4 IMPORT_LAYER'])
    expect(codes('subgraphs/toys/toy/inner/resolvers.ts', imports)).toEqual([])
  })

  test('refuse a file of stores/ without SQL', () => {
    expect(codes('subgraphs/toys/stores/toy.ts', "import { statement } from '../../../platform/sql/statement.ts'\n")).toEqual([])
    expect(codes('subgraphs/toys/stores/toy.ts', 'export const isOld = (column: string) => `${column} is null`\n')).toEqual([])
    expect(codes('subgraphs/toys/stores/toy.ts', '// select\nexport const kinds = [1]\n')).toEqual(['1 STORE_WITHOUT_SQL'])
    expect(codes('subgraphs/toys/engines/toy/toy.ts', 'export const kinds = [1]\n')).toEqual([])
  })

  test('let access, engine and door import only each other’s public files', () => {
    const [rules, findings] = ["import { a } from '../access/rules.ts'\n", "\nimport type { a } from '../access/findings.ts'\n"]
    expect(codes('router/engine/a.ts', rules)).toEqual([])
    expect(codes('router/engine/a.ts', findings)).toEqual(['2 IMPORT_INSIDE'])
    expect(codes('router/engine/plan/a.ts', "import { a } from '../../door/app.ts'\n")).toEqual(['1 IMPORT_INSIDE'])
    expect(codes('router/door/a.ts', "import { a } from '../engine/gateway.ts'\nconst b = import('../engine/plan/planner.ts')\n")).toEqual(['2 IMPORT_INSIDE'])
    expect(codes('router/access/a.ts', "import type { a } from '../engine/work.ts'\n")).toEqual(['1 IMPORT_INSIDE'])
    expect(codes('router/start/a.ts', "import { a } from '../engine/plan/planner.ts'\nimport { b } from '../door/app.ts'\n")).toEqual([])
    expect(codes('router/door/a.ts', "import { a } from './app.ts'\nimport { b } from '../live/shares.ts'\n")).toEqual([])
  })

  test('forbid import cycles between folders, of types too and over several folders; parts may import files beside their folder', async () => {
    await using at = await project({
      'router/main.ts': "import { a } from './start/run.ts'\n",
      'router/start/run.ts': "import { a } from '../rest/app.ts'\nimport { b } from '../target.ts'\n",
      'router/rest/app.ts': "import type { a } from '../live/inner/streams.ts'\nimport { b } from '../target.ts'\n",
      'router/live/inner/streams.ts': "import type { a } from '../../access/rules.ts'\n",
      'router/access/rules.ts': 'export const a = 1\n',
      'router/target.ts': 'export const b = 1\n',
      'platform/a.ts': "import type { b } from './b.ts'\n",
      'platform/b.ts': 'export const b = 1\n',
      'test/a/a.ts': "import { b } from '../b/b.ts'\n",
      'test/b/b.ts': "import { a } from '../a/a.ts'\n",
    })
    expect(await broken(at.root)).toEqual([])
    await at.write('router/access/rules.ts', "\nimport type { a } from '../rest/errors.ts'\n")
    const circle = 'router/access → router/rest → router/live → router/access'
    expect((await broken(at.root)).map(({ file, code, text }) => `${file} ${code} ${text}`)).toEqual([
      expect.stringContaining(`router/access/rules.ts IMPORT_CIRCLE ${circle} is a circle of imports: router/access/rules.ts imports router/rest/errors.ts, `),
    ])
    await at.write('router/target.ts', "import { a } from './start/run.ts'\n")
    expect((await broken(at.root)).map(({ code }) => code)).toEqual(['IMPORT_CIRCLE', 'IMPORT_CIRCLE'])
    await at.write('platform/b.ts', "import { c } from './c/c.ts'\n")
    await at.write('platform/c/c.ts', "import { b } from '../b.ts'\n")
    expect((await broken(at.root)).map(({ file }) => file)).toContain('platform/b.ts')
  })

  test('forbid import cycles between files of one folder, of types too', async () => {
    await using at = await project({
      'platform/a.ts': "import type { b } from './b.ts'\n",
      'platform/b.ts': "import type { a } from './a.ts'\n",
    })
    expect((await broken(at.root)).map(({ file, code }) => `${file} ${code}`)).toEqual(['platform/a.ts IMPORT_CIRCLE'])
  })

  test('forbid meaningless names and overfull folders', async () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`platform/noun-${index}.ts`, '']))
    const tests = Object.fromEntries(Object.keys(many).map(path => [path.replace('platform', 'test/platform'), '']))
    await using at = await project({
      ...many,
      ...tests,
      'router/utils.ts': '',
      'subgraphs/a/index.ts': '',
    })
    expect((await broken(at.root)).map(({ file, code }) => `${file} ${code}`).sort()).toEqual([
      'platform FOLDER_TOO_FULL',
      'router/utils.ts NAME_SAYS_NOTHING',
      'subgraphs/a/index.ts NAME_SAYS_NOTHING',
    ])
  })

  test('leave room for every service that has scopes but no folder yet', async () => {
    const root = join(import.meta.dirname, '..', '..')
    const there = (await readdir(join(root, 'subgraphs'), { withFileTypes: true })).filter(entry => entry.isDirectory() || entry.name.endsWith('.ts'))
    const missing = slugs.filter(slug => !there.some(({ name }) => name === slug))
    const entries = Object.fromEntries(
      [...there.map(({ name }) => (name.endsWith('.ts') ? name : `${name}/a.ts`)), ...missing.map(slug => `${slug}/a.ts`)].map(path => [
        `subgraphs/${path}`,
        '',
      ]),
    )
    await using at = await project(entries)
    expect((await broken(at.root)).map(({ file, code, text }) => `${file} ${code} ${text}`)).toEqual([])
  })

  test('distinguish code, literals and comments', () => {
    const { code, literals } = takeApart(
      "const a = /['\"`]/.test(b) // it's `x`\nconst c = `p ${d('q')} r` + 'it\\'s' /* \" */ / 2\nconst e = { f: `${{ g: 1 }}` }",
    )
    expect(code.replaceAll(/ +/g, ' ')).toBe("const a = .test(b) \nconst c = ` d(' ') + ' ' / 2\nconst e = { f: ` { g: 1 } }")
    expect(literals.replaceAll(/ +/g, ' ')).toBe(" \n p q r it\\'s \n ")
  })
})
