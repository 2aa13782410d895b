import { composeServices } from '@apollo/composition'
import { lexicographicSortSchema, parse, printSchema } from 'graphql'
import { describe, expect, test } from 'vitest'
import { compose } from '../../schema/compose.ts'
import { printMistake } from '../../schema/source/mistake.ts'
import { library, project } from './project.ts'

const book = 'subgraphs/books/book/schema.graphql'
const loan = 'subgraphs/loans/loan/schema.graphql'

/** Composes the library with some files exchanged, and prints what is to mend. */
async function mistakesOf(changed: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using library_ = await project({ ...library, ...changed })
  return (await compose(library_.root)).mistakes.map(printMistake)
}

const bookWith = (field: string): string => library[book]!.replace('  title: String!', field)
const loanWith = (field: string): string => library[loan]!.replace('resolvable: false) {', `resolvable: false) {\n  ${field}`)

describe('composing', () => {
  test('joins the nouns of a subgraph with the shared types it uses and a header of the directives it uses', async () => {
    await using at = await project(library)
    const { files, mistakes } = await compose(at.root)
    expect(mistakes).toEqual([])
    const books = files.get('schema/subgraphs/books.graphql')!
    expect(books.split('\n')[0]).toMatch(/^# generated/)
    expect(books).toContain('@link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])')
    expect(books).toContain('scalar DateTime')
    expect(books).not.toContain('scalar URL')
    expect(files.get('schema/subgraphs/loans.graphql')).toContain('import: ["@authenticated", "@key", "@listSize"]')
  })

  test('accepts nouns that share a folder, each once', async () => {
    const author = 'extend type Book {\n  "Who wrote it."\n  author: String\n}\n'
    await using at = await project({ ...library, 'subgraphs/books/writing/author/schema.graphql': author })
    const { files, mistakes } = await compose(at.root)
    expect(mistakes).toEqual([])
    expect(files.get('schema/subgraphs/books.graphql')!.split('Who wrote it.')).toHaveLength(2)
  })

  test('writes the same API schema as Apollo for the same supergraph', async () => {
    await using at = await project({ ...library, [book]: bookWith('title: String! @deprecated(reason: "2027-01-01: use name")\n  secret: Int @inaccessible') })
    const { files, subgraphs } = await compose(at.root)
    const services = subgraphs.map(({ slug }) => ({ name: slug, url: '', typeDefs: parse(files.get(`schema/subgraphs/${slug}.graphql`)!) }))
    const theirs = composeServices(services).schema!.toAPISchema().toGraphQLJSSchema()
    const ours = files.get('schema/api.graphql')!
    // The router adds what its answers can do beyond a subgraph's.
    const [own, shared] = [/^(?:"""\n[^"]*\n"""\n)?directive @\w+.*$/gm, ours.slice(ours.indexOf('\n') + 1)]
    expect(shared.match(own)?.map(text => /@\w+/.exec(text)![0])).toEqual(['@defer', '@stream'])
    expect(shared.replace(own, '').trim()).toBe(printSchema(lexicographicSortSchema(theirs)).trim())
    expect(ours).not.toContain('secret')
  })

  test('carries a directive of our own into the supergraph, and neither it nor its enum to clients', async () => {
    const shared = `${library['subgraphs/shared.graphql']}
"Who may share an answer."
enum Sharing { "All." EVERYONE }

"Promises that an answer is the same for many."
directive @shared(by: Sharing!) on FIELD_DEFINITION
`
    await using at = await project({ ...library, 'subgraphs/shared.graphql': shared, [book]: bookWith('title: String! @shared(by: EVERYONE)') })
    const { files, mistakes } = await compose(at.root)
    expect(mistakes).toEqual([])
    expect(files.get('schema/supergraph.graphql')).toMatch(/title: String! .*@shared\(by: EVERYONE\)/)
    expect(files.get('schema/api.graphql')).not.toMatch(/shar/i)
    expect(files.get('schema/subgraphs/loans.graphql')).not.toContain('Sharing')
  })

  test('prints the API schema the same when a type moves to another noun', async () => {
    const [fields, type] = library[book]!.split('\n\n') as [string, string]
    await using before = await project(library)
    await using after = await project({ ...library, 'subgraphs/books/a/schema.graphql': type, [book]: `${fields}\n` })
    const api = async (root: string): Promise<string> => (await compose(root)).files.get('schema/api.graphql')!
    expect(await api(after.root)).toBe(await api(before.root))
  })
})

describe('a mistake in the SDL is shown at its place', () => {
  test('a syntax error', async () => {
    expect(await mistakesOf({ [book]: bookWith('  title String!') })).toEqual([`${book}:9:9 SYNTAX_ERROR Syntax Error: Expected ":", found Name "String".`])
  })

  test('an undefined type', async () => {
    expect(await mistakesOf({ [book]: bookWith('  title: Strin!') })).toEqual([`${book}:9:10 INVALID_GRAPHQL [books] Unknown type Strin`])
  })

  test('types that do not fit together', async () => {
    const mistakes = await mistakesOf({ [book]: bookWith('  title: String! @shareable'), [loan]: loanWith('title: Int @shareable') })
    expect(mistakes).toEqual([expect.stringMatching(new RegExp(`^${book}:9:3 FIELD_TYPE_MISMATCH .*"Book.title"`))])
  })

  test('a field that two subgraphs resolve', async () => {
    expect(await mistakesOf({ [loan]: loanWith('title: String!') })).toEqual([
      expect.stringMatching(new RegExp(`^${book}:9:3 INVALID_FIELD_SHARING .*"books" and "loans"`)),
    ])
  })

  test('a field that cannot be reached, with the subgraphs between which the way is missing', async () => {
    const mistakes = await mistakesOf({ [book]: library[book]!.replace('@key(fields: "id")', '@key(fields: "id", resolvable: false)') })
    expect(mistakes[0]).toMatch(new RegExp(`^${book}:9:3 SATISFIABILITY_ERROR .*loans.*cannot find field "Book.title".*"books"`))
    expect(mistakes.join('')).not.toContain('\n')
  })

  test('descriptions that differ, for INCONSISTENT hints fail', async () => {
    const mistakes = await mistakesOf({ [loan]: library[loan]!.replace('type Book', '"Something else."\ntype Book') })
    expect(mistakes).toEqual([expect.stringMatching(/^subgraphs\/\w+\/\w+\/schema\.graphql:\d+:\d+ INCONSISTENT_DESCRIPTION /)])
  })

  test('a provided path that returns to an earlier type, which the planner would take for provided at any depth', async () => {
    const shelves = 'type Shelf @key(fields: "id") {\n  id: ID!\n  name: String @shareable\n  inner: [Shelf!] @shareable\n}\n'
    const root = (fields: string) => `extend type Query {\n  shelf: Shelf @authenticated @provides(fields: "${fields}")\n}\n\n${shelves}`
    const [mistake] = await mistakesOf({ 'subgraphs/loans/shelf/schema.graphql': root('inner { name }') })
    expect(mistake).toMatch(/^subgraphs\/loans\/shelf\/schema\.graphql:2:31 PROVIDES_RECURSIVE Query\.shelf /)
    expect(await mistakesOf({ 'subgraphs/loans/shelf/schema.graphql': root('name') })).not.toContainEqual(expect.stringContaining('PROVIDES_RECURSIVE'))
  })

  test('a rule on an interface', async () => {
    const wrong = `${library[book]}\ninterface Named @authenticated {\n  title: String!\n}\n`
    expect(await mistakesOf({ [book]: wrong })).toEqual([expect.stringMatching(new RegExp(`^${book}:\\d+:\\d+ AUTH_REQUIREMENTS_APPLIED_ON_INTERFACE `))])
  })

  test('root types, headers and directives that a noun writes, and types that two nouns write', async () => {
    const wrong = `type Query {\n  a: Int\n}\nextend schema @link(url: "x")\ndirective @mine on OBJECT\ntype Book {\n  id: ID!\n}\n`
    const mistakes = await mistakesOf({ 'subgraphs/books/other/schema.graphql': wrong })
    expect(mistakes.map(text => text.split(' ').slice(0, 2).join(' '))).toEqual([
      'subgraphs/books/other/schema.graphql:1:1 ROOT_TYPE_NOT_EXTENDED',
      'subgraphs/books/other/schema.graphql:4:1 HEADER_IS_GENERATED',
      'subgraphs/books/other/schema.graphql:5:1 DIRECTIVE_IN_NOUN',
      'subgraphs/books/other/schema.graphql:6:1 TYPE_DEFINED_TWICE',
    ])
  })
})

describe('access', () => {
  const query = 'subgraphs/books/query/schema.graphql'
  const asked = (fields: string) => mistakesOf({ [query]: `extend type Query {\n  ${fields}\n}\n` })
  const published = 'schema/public-fields.yaml'

  test('an unknown scope, with the service’s scopes, on a field, a type and within a list', async () => {
    expect(await asked('posts: Int @requiresScopes(scopes: [["publishing:posts.read"], ["publishing:posts.wirte"]])')).toEqual([
      expect.stringMatching(new RegExp(`^${query}:2:67 SCOPE_UNKNOWN "publishing:posts\\.wirte" .*subgraphs/scopes\\.ts: publishing has .*posts\\.write`)),
    ])
    expect(await mistakesOf({ [book]: library[book]!.replace('type Book @key', 'type Book @requiresScopes(scopes: [["posts.read"]]) @key') })).toEqual([
      expect.stringMatching(new RegExp(`^${book}:7:37 SCOPE_UNKNOWN "posts\\.read" .*write the service before it`)),
    ])
    expect(await asked('posts: Int @requiresScopes(scopes: [["publishing:posts.read", "identity:posts.read"]])')).toEqual([
      expect.stringMatching(/SCOPE_UNKNOWN "identity:posts\.read" .*identity has none$/),
    ])
  })

  test('an unknown policy, and a rule that names nothing', async () => {
    expect(await asked('mine: Int @policy(policies: [["persn"]])')).toEqual([
      expect.stringMatching(new RegExp(`^${query}:2:33 POLICY_UNKNOWN "persn" .*there are person, `)),
    ])
    expect(await asked('mine: Int @requiresScopes(scopes: [])')).toEqual([expect.stringMatching(new RegExp(`^${query}:2:13 RULE_EMPTY @requiresScopes `))])
  })

  test.each(['Query', 'Mutation', 'Subscription'])('a field of %s that does not say who may call it', async type => {
    const mistakes = await mistakesOf({ [query]: `extend type ${type} {\n  "Why not."\n  anything: Int\n}\n` })
    expect(mistakes).toEqual([expect.stringMatching(new RegExp(`^${query}:2:3 ROOT_FIELD_WITHOUT_RULE ${type}\\.anything .*${published}`))])
  })

  test('a public field without a reason, one that no longer exists, and an invalid list', async () => {
    expect(
      await mistakesOf({ [published]: 'Query.book: so\nQuery.loans: because everybody likes to lend\nQuery.bok: because of a slip of the pen\n' }),
    ).toEqual([
      `${published}:1:1 PUBLIC_FIELD_WITHOUT_REASON Query.book: say in a sentence why anyone may call it`,
      `${published}:2:1 PUBLIC_FIELD_STALE Query.loans is no root field without a rule of its own: take the entry out`,
      `${published}:3:1 PUBLIC_FIELD_STALE Query.bok is no root field without a rule of its own: take the entry out`,
    ])
    expect(await mistakesOf({ [published]: '- Query.book\n' })).toContainEqual(expect.stringMatching(/YAML_SHAPE/))
    expect(await mistakesOf({ [published]: 'a: [\n' })).toContainEqual(expect.stringMatching(/YAML_SYNTAX/))
  })

  test('and no supergraph and API schema are written while it is wrong', async () => {
    await using at = await project({ ...library, [published]: '' })
    const { files, mistakes } = await compose(at.root)
    expect([mistakes.map(({ code }) => code), files.has('schema/supergraph.graphql')]).toEqual([['ROOT_FIELD_WITHOUT_RULE'], false])
  })
})

describe('supergraph.yaml', () => {
  const yaml = (change: (text: string) => string): Promise<readonly string[]> =>
    project(library).then(async at => {
      await using _ = at
      await at.write('supergraph.yaml', change(await at.read('supergraph.yaml')))
      return await compose(at.root).then(
        ({ mistakes }) => mistakes.map(printMistake),
        (error: Error) => error.message.split('\n'),
      )
    })

  test.for([
    ['subgraph_url', 'subgraph_url: http://localhost:4001'],
    ['graphref', 'graphref: mine@current'],
    ['sdl', 'sdl: "type Query { a: Int }"'],
  ] as const)('refuses rover’s %s with a sentence', async ([key, line]) => {
    expect(await yaml(text => text.replace('file: schema/subgraphs/books.graphql', line))).toEqual([
      expect.stringMatching(new RegExp(`^supergraph\\.yaml:6:7 KEY_NOT_SERVED subgraphs\\.books\\.schema\\.${key} .*schema\\.file`)),
    ])
  })

  test('rejects ${env.…}, which would be literal text in the supergraph', async () => {
    expect(await yaml(text => text.replace('http://localhost:4001/books', '${env.BOOKS_URL}'))).toEqual([
      expect.stringMatching(/^supergraph\.yaml:4:18 ENVIRONMENT_NOT_EXPANDED \$\{env\.BOOKS_URL\} .*<SLUG>_URL/),
    ])
  })

  test('rejects another path of the SDL, a repeated address, and an invalid slug', async () => {
    expect(await yaml(text => text.replace('subgraphs/loans.graphql', 'loans.graphql'))).toEqual([
      expect.stringMatching(/^supergraph\.yaml:7:3 SCHEMA_FILE .* must be schema\/subgraphs\/loans\.graphql/),
    ])
    expect(await yaml(text => text.replace('4001/loans', '4001/books'))).toEqual([
      expect.stringMatching(/^supergraph\.yaml:8:18 ROUTING_URL_TAKEN subgraphs\.loans\.routing_url is that of books/),
    ])
    expect(await yaml(text => text.replaceAll('loans', 'my-loans'))).toEqual([expect.stringMatching(/^supergraph\.yaml:7:3 YAML_SHAPE .*my-loans is no slug/)])
  })

  test('names the version to write when another composition is installed', async () => {
    expect(await yaml(text => text.replace('=2.14.4', '=2.9.0'))).toEqual([
      expect.stringMatching(/^supergraph\.yaml:1:1 COMPOSITION_VERSION .*write =2\.14\.4$/),
    ])
  })

  test('names a subgraph without SDL, and invalid YAML', async () => {
    expect(await yaml(text => text.replaceAll('loans', 'gifts'))).toEqual([
      expect.stringMatching(/SUBGRAPH_MISSING subgraph gifts has no subgraphs\/gifts\/<noun>\/schema\.graphql/),
    ])
    expect(await yaml(text => `${text}  : [}\n`)).toEqual([expect.stringMatching(/^supergraph\.yaml:\d+:\d+ YAML_SYNTAX /)])
  })

  test('reports a missing file', async () => {
    await expect(compose('nowhere')).rejects.toThrow(/^supergraph\.yaml:1:1 FILE_MISSING /)
  })
})
