import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { drift } from '../../schema/check.ts'
import { generate, writeFiles } from '../../schema/generate.ts'
import { accept } from '../../schema/released/accept.ts'
import { breakingChanges } from '../../schema/released/api.ts'
import { printMistake } from '../../schema/source/mistake.ts'
import { library, type Project, project } from './project.ts'

const withOperations = {
  ...library,
  'subgraphs/books/stores/book.ts': 'export interface BookRow {\n  readonly id: string\n}\nexport type ShelfRow = never\n',
  'subgraphs/loans/loan/ask.graphql': 'query BookOfLoan($id: ID!) {\n  book(id: $id) { title boughtAt }\n}\n',
  'subgraphs/books/book/ask.graphql': 'query BookOfBook($id: ID!) {\n  book(id: $id) { id }\n}\n',
}

async function generated(): Promise<Project> {
  const at = await project(withOperations)
  const { files, mistakes } = await generate(at.root)
  expect(mistakes.map(printMistake)).toEqual([])
  await writeFiles(at.root, files)
  return at
}

const change = async (at: Project, file: string, from: string, to: string): Promise<void> => at.write(file, (await at.read(file)).replace(from, to))
const printed = async (mistakes: Promise<readonly Parameters<typeof printMistake>[0][]>): Promise<readonly string[]> => (await mistakes).map(printMistake)

describe('the generator', () => {
  test('gives each subgraph resolver types, mapped to its tables’ rows by name', async () => {
    await using at = await generated()
    const books = await at.read('subgraphs/books/resolvers.generated.ts')
    expect(books).toContain("import type { BookRow } from './stores/book.ts'")
    expect(books).toContain("import type { Context } from './context.ts'")
    expect(books).toContain('Book: ResolverTypeWrapper<BookRow>')
    expect(books).toContain('DateTime: { input: Date; output: Date | string; }')
    expect(books).not.toContain('ShelfRow')
  })

  test('writes typed documents beside each file of operations', async () => {
    await using at = await generated()
    const ask = await at.read('subgraphs/loans/loan/ask.generated.ts')
    expect(ask).toContain('DocumentNode<BookOfLoanQuery, BookOfLoanQueryVariables>')
    expect(ask).toContain('boughtAt: string | null')
    expect(await at.read('subgraphs/books/book/ask.generated.ts')).toContain('BookOfBookDocument')
  })

  test('writes no path of the machine', async () => {
    await using at = await project(withOperations)
    for (const text of (await generate(at.root)).files.values()) expect(text).not.toContain(at.root)
  })

  test('reports an operation that the graph does not support, and keeps everything else up to date', async () => {
    await using at = await generated()
    await change(at, 'subgraphs/books/book/ask.graphql', '{ id }', '{ isbn }')
    const { files, mistakes } = await generate(at.root)
    expect(mistakes.map(printMistake)).toEqual([expect.stringMatching(/^subgraphs\/books\/book\/ask\.graphql:2:19 OPERATION_INVALID .*"isbn"/)])
    expect(files.has('schema/api.graphql')).toBe(true)
    expect(files.has('subgraphs/books/book/ask.generated.ts')).toBe(false)
  })

  test('generates types for a valid subgraph while another one is invalid', async () => {
    await using at = await project(withOperations)
    await change(at, 'subgraphs/loans/loan/schema.graphql', 'book: Book', 'book: Bok')
    const { files, mistakes } = await generate(at.root)
    expect(mistakes.map(({ code }) => code)).toEqual(['INVALID_GRAPHQL'])
    expect(files.has('subgraphs/books/resolvers.generated.ts')).toBe(true)
    expect(files.has('schema/supergraph.graphql')).toBe(false)
  })

  test('requires the type of an unknown scalar', async () => {
    await using at = await project(withOperations)
    await change(at, 'subgraphs/books/book/schema.graphql', 'extend', '"A number on the back."\nscalar Isbn\n\nextend')
    expect((await generate(at.root)).mistakes.map(printMistake)).toEqual([expect.stringMatching(/^codegen\.ts:1:1 CODEGEN_FAILED .*Isbn/)])
  })
})

describe('drift', () => {
  test('is nothing right after generating', async () => {
    await using at = await generated()
    expect(await printed(drift(at.root))).toEqual([])
  })

  test('names the edited file, the missing one and the one whose source is missing', async () => {
    await using at = await generated()
    await change(at, 'schema/api.graphql', 'title: String!', 'title: String')
    await rm(join(at.root, 'schema/subgraphs/books.graphql'))
    await rm(join(at.root, 'subgraphs/books/book/ask.graphql'))
    expect(await printed(drift(at.root))).toEqual([
      'schema/subgraphs/books.graphql:1:1 GENERATED_MISSING is not there: npm run generate makes it',
      expect.stringMatching(/^schema\/api\.graphql:\d+:1 GENERATED_DRIFT differs from a fresh generation: npm run generate$/),
      'subgraphs/books/book/ask.generated.ts:1:1 GENERATED_STALE has no source any more: npm run generate removes it',
    ])
  })

  test('follows a change of the sources, and leaves the working tree as it is', async () => {
    await using at = await generated()
    const before = await at.read('schema/api.graphql')
    await change(at, 'subgraphs/books/book/schema.graphql', 'title: String!', 'title: String!\n  pages: Int')
    const drifted = (await drift(at.root)).map(({ file }) => file)
    expect(drifted).toEqual(expect.arrayContaining(['schema/supergraph.graphql', 'schema/api.graphql', 'subgraphs/books/resolvers.generated.ts']))
    expect(await at.read('schema/api.graphql')).toBe(before)
  })
})

describe('the operator’s table of settings', () => {
  const page = (table: string) =>
    `# Configuration\n\n<!-- settings: from config/families.ts, by npm run generate -->${table}<!-- end of settings -->\n\nThe rest.\n`

  test('is generated from the settings that are read, and an outdated page is reported', async () => {
    await using at = await generated()
    await at.write('docs/operating/configuration.md', page('\n| `PORT` | `80` |\n'))
    expect(await printed(drift(at.root))).toEqual([expect.stringMatching(/^docs\/operating\/configuration\.md:\d+:1 GENERATED_DRIFT /)])
    await writeFiles(at.root, (await generate(at.root)).files)
    const written = await at.read('docs/operating/configuration.md')
    expect(written).toContain('\n| `PORT` | `4000` | every process | ')
    expect(written).toMatch(/^# Configuration\n(?:.*\n)*The rest\.\n$/)
    expect(await printed(drift(at.root))).toEqual([])
  })

  test('has its markers in the page', async () => {
    await using at = await generated()
    await at.write('docs/operating/configuration.md', '# Configuration\n')
    expect(await printed(drift(at.root))).toEqual([expect.stringMatching(/^docs\/operating\/configuration\.md:1:1 SETTINGS_MISSING /)])
  })
})

describe('the released contract', () => {
  const regenerate = async (at: Project): Promise<void> => void (await writeFiles(at.root, (await generate(at.root)).files))

  test('must exist, with instructions otherwise', async () => {
    await using at = await generated()
    expect(await printed(breakingChanges(at.root))).toEqual([
      expect.stringMatching(/^schema\/api\.released\.graphql:1:1 NOTHING_RELEASED .*npm run schema:accept/),
    ])
  })

  test('may be added to', async () => {
    await using at = await generated()
    await accept(at.root)
    await change(at, 'subgraphs/books/book/schema.graphql', 'title: String!', 'title: String!\n  pages: Int')
    await regenerate(at)
    expect(await printed(breakingChanges(at.root))).toEqual([])
  })

  test('must not lose anything, until the loss is accepted', async () => {
    await using at = await generated()
    await accept(at.root)
    await change(at, 'subgraphs/books/book/schema.graphql', '  boughtAt: DateTime\n', '')
    await change(at, 'subgraphs/loans/loan/ask.graphql', ' boughtAt', '')
    await regenerate(at)
    const broken = await printed(breakingChanges(at.root))
    expect(broken).toContainEqual(expect.stringMatching(/^schema\/api\.released\.graphql:\d+:\d+ BREAKING_CHANGE Field 'boughtAt' was removed/))
    expect(await accept(at.root)).toHaveLength(broken.length)
    expect(await printed(breakingChanges(at.root))).toEqual([])
  })

  test('is not accepted when nothing was generated', async () => {
    await using at = await project(library)
    await expect(accept(at.root)).rejects.toThrow('npm run generate')
  })
})
