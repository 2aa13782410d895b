import { describe, expect, test } from 'vitest'
import { compose } from '../../schema/compose.ts'
import { generate } from '../../schema/generate.ts'
import { printMistake } from '../../schema/source/mistake.ts'
import { library, project } from './project.ts'

const book = 'subgraphs/books/book/schema.graphql'
const joined = 'schema/subgraphs/books.graphql'
const pageInfo = '\n"Where a page stands."\ntype PageInfo @shareable {\n  endCursor: String\n}\n'
const shared = { 'subgraphs/shared.graphql': `${library['subgraphs/shared.graphql']}${pageInfo}` }

/** The library with a list of books, whose type has the given rule. */
const withList = (rule: string, more = '', field = 'books(first: Int = 20, after: String): BookConnection @authenticated') => ({
  ...library,
  ...shared,
  [book]: `extend type Query {\n  "Books."\n  ${field}\n}\n\n"A book."\ntype Book @key(fields: "id") ${rule} {\n  id: ID!\n}\n${more}`,
  'schema/public-fields.yaml': '',
})

const sdlWith = async (files: Readonly<Record<string, string>>): Promise<string> => {
  await using at = await project(files)
  const { files: made, mistakes } = await compose(at.root)
  expect(mistakes.map(printMistake)).toEqual([])
  return made.get(joined)!
}

const typesIn = (sdl: string): readonly string[] => sdl.match(/^type \w+(?:Connection|Edge)\b.*(?= \{$)/gm) ?? []

describe('a list directive on a noun', () => {
  test('generates its page and entry types, with the access rule of the listed type', async () => {
    const sdl = await sdlWith(withList('@policy(policies: [["person"]])'))
    expect(typesIn(sdl)).toEqual(['type BookConnection @policy(policies: [["person"]])', 'type BookEdge @policy(policies: [["person"]])'])
    for (const field of ['nodes: [Book]', 'edges: [BookEdge]', 'pageInfo: PageInfo!', 'totalCount: Int! @cost(weight: 10)', 'cursor: String!', 'node: Book'])
      expect(sdl).toContain(`  ${field}\n`)
    expect(sdl).toContain('import: ["@authenticated", "@cost", "@key", "@listSize", "@policy", "@shareable"]')
  })

  test('opens a page to viewers with read scope of its type, and not to those with write scope only', async () => {
    const sdl = await sdlWith(withList('@requiresScopes(scopes: [["publishing:posts.read"], ["publishing:posts.write"]])'))
    expect(typesIn(sdl)[0]).toBe('type BookConnection @requiresScopes(scopes: [["publishing:posts.read"]])')
    const both = await sdlWith(withList('@requiresScopes(scopes: [["publishing:posts.read", "publishing:posts.write"], ["publishing:accounts.read"]])'))
    expect(typesIn(both)[0], 'a way that takes both').toBe('type BookConnection @requiresScopes(scopes: [["publishing:accounts.read"]])')
    const written = await sdlWith(withList('@requiresScopes(scopes: [["publishing:posts.write"]])'))
    expect(typesIn(written)[0]).toBe('type BookConnection @requiresScopes(scopes: [["publishing:posts.write"]])')
  })

  test('has its arguments described, unless it describes them itself', async () => {
    const sdl = await sdlWith(withList('', '', 'books(\n    first: Int = 20\n    "From here."\n    after: String\n  ): BookConnection @authenticated'))
    expect(sdl).toContain('    "How many to a page: 1 to 100." first: Int = 20\n    "From here."\n    after: String')
  })

  test('declares the length of a page, unless the SDL does', async () => {
    const size = '@listSize(slicingArguments: ["first"], sizedFields: ["nodes", "edges"], requireOneSlicingArgument: false)'
    expect(await sdlWith(withList(''))).toContain(`after: String): BookConnection ${size} @authenticated`)
    const own = '@listSize(assumedSize: 7, sizedFields: ["nodes", "edges"])'
    const sdl = await sdlWith(withList('', '', `books(first: Int = 20, after: String): BookConnection ${own} @authenticated`))
    expect(sdl.match(/@listSize\(.*?\)/g)).toEqual([own])
  })

  test('keeps a page or entry type that the SDL declares', async () => {
    const edge = '\n"A book on a list."\ntype BookEdge @authenticated {\n  cursor: String!\n  node: Book\n  rank: Int\n}\n'
    const sdl = await sdlWith(withList('@authenticated', edge))
    expect(typesIn(sdl).toSorted()).toEqual(['type BookConnection @authenticated', 'type BookEdge @authenticated'])
    expect(sdl).toContain('  rank: Int\n')
  })

  test('is rejected with its place when the listed type is missing', async () => {
    await using at = await project(withList('', '', 'books(first: Int = 20, after: String): BoookConnection @authenticated'))
    expect((await compose(at.root)).mistakes.map(printMistake)).toEqual([
      `${book}:3:42 PAGE_OF_NO_TYPE BoookConnection would be a page of Boook, and Boook is no object type of this subgraph: mend the name, or declare BoookConnection in the noun`,
    ])
  })

  test('answers it with a page of its rows', async () => {
    await using at = await project({ ...withList(''), 'subgraphs/books/stores/book.ts': 'export type BookRow = { id: string }\n' })
    const types = (await generate(at.root)).files.get('subgraphs/books/resolvers.generated.ts')!
    expect(types).toContain('  BookConnection: ResolverTypeWrapper<PageOf<BookRow>>')
    expect(types).toContain("import type { Connection as PageOf } from '../../platform/page.ts'")
  })
})
