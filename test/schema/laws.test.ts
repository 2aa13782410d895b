import { describe, expect, test } from 'vitest'
import { breachesIn, broken } from '../../schema/laws.ts'
import { takeApart } from '../../schema/source-text.ts'
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
    ).toEqual(['1 IMPORT_BY_URL'])
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

  test('refuse code of more than 400 lines, comments and tests apart', () => {
    const line = 'export const a = 1\n'
    expect(codes('platform/a.ts', line.repeat(400) + '// why\n\n'.repeat(50))).toEqual([])
    expect(codes('platform/a.ts', line.repeat(401))).toEqual(['1 FILE_TOO_LONG'])
    expect(codes('test/a.test.ts', line.repeat(401))).toEqual([])
  })

  test('refuse names that say nothing, folders that hold too much and a subgraph without an import law', async () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`platform/noun-${index}.ts`, '']))
    await using at = await project({
      ...many,
      'router/utils.ts': '',
      'subgraphs/a/index.ts': '',
      'subgraphs/b/rules.ts': '',
      'biome.json': '{ "includes": ["subgraphs/a/**"] }',
    })
    expect((await broken(at.root)).map(({ file, code }) => `${file} ${code}`).sort()).toEqual([
      'biome.json IMPORT_LAW_MISSING',
      'platform FOLDER_TOO_FULL',
      'router/utils.ts NAME_SAYS_NOTHING',
      'subgraphs/a/index.ts NAME_SAYS_NOTHING',
    ])
  })

  test('tell code, literals and comments apart', () => {
    const { code, literals } = takeApart(
      "const a = /['\"`]/.test(b) // it's `x`\nconst c = `p ${d('q')} r` + 'it\\'s' /* \" */ / 2\nconst e = { f: `${{ g: 1 }}` }",
    )
    expect(code.replaceAll(/ +/g, ' ')).toBe("const a = .test(b) \nconst c = ` d(' ') + ' ' / 2\nconst e = { f: ` { g: 1 } }")
    expect(literals.replaceAll(/ +/g, ' ')).toBe(" \n p q r it\\'s \n ")
  })
})
