import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A project of a test's own, in a folder that is gone when the test ends. */
export interface Project extends AsyncDisposable {
  readonly root: string
  write(file: string, text: string): Promise<void>
  read(file: string): Promise<string>
}

const supergraphYaml = (slugs: readonly string[]): string =>
  [
    'federation_version: =2.14.4',
    'subgraphs:',
    ...slugs.flatMap(slug => [`  ${slug}:`, `    routing_url: http://localhost:4001/${slug}`, '    schema:', `      file: schema/subgraphs/${slug}.graphql`]),
    '',
  ].join('\n')

/** Makes a project of the given files; without a supergraph.yaml among them it lists the subgraphs whose files are given. */
export async function project(files: Readonly<Record<string, string>>): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), 'project-'))
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true })
    await writeFile(join(root, file), text)
  }
  const slugs = new Set(Object.keys(files).flatMap(file => /^subgraphs\/(\w+)\//.exec(file)?.[1] ?? []))
  await write('supergraph.yaml', supergraphYaml([...slugs]))
  for (const [file, text] of Object.entries(files)) await write(file, text)
  return {
    root,
    write,
    read: file => readFile(join(root, file), 'utf8'),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  }
}

/** The least project that composes: two subgraphs, the second of which knows the first one's entity by its key. */
export const library: Readonly<Record<string, string>> = {
  'subgraphs/books/book/schema.graphql': `extend type Query {
  "A book."
  book(id: ID!): Book
}

"A book on a shelf."
type Book @key(fields: "id") {
  id: ID!
  title: String!
  boughtAt: DateTime
}
`,
  'subgraphs/loans/loan/schema.graphql': `extend type Query {
  "What is lent out."
  loans: [Loan!] @listSize(assumedSize: 10) @authenticated
}

"A book that is away."
type Loan @key(fields: "id") {
  id: ID!
  book: Book
}

type Book @key(fields: "id", resolvable: false) {
  id: ID!
}
`,
  'schema/public-fields.yaml': 'Query.book: whoever passes by may look at a book\n',
  'subgraphs/shared.graphql': `"A moment in UTC."
scalar DateTime

"An address that nobody uses."
scalar URL
`,
}
