import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildASTSchema, type DefinitionNode, type DocumentNode, GraphQLError, type GraphQLSchema, Kind, parse, Source, visit } from 'graphql'
import { at, inFile, type Mistake, ofSource } from './mistake.ts'
import { type SdlFile, withPages } from './pages.ts'

/** The SDL of one subgraph: its nouns by name, and the parts of `subgraphs/shared.graphql` that it uses. */
export interface SubgraphSources {
  readonly slug: string
  readonly nouns: readonly SdlFile[]
  /** The generated page types of its lists; null if there are none. */
  readonly pages: SdlFile | null
  readonly shared: readonly DefinitionNode[]
  /** The generated header: the `@link`s of the directives that the nouns use. */
  readonly header: SdlFile
}

const federationLink = 'https://specs.apollo.dev/federation/v2.9'
// Composition keeps a custom directive only if its link has a name and a version; the URL is never fetched.
const ownLink = (directive: string): string => `https://supergraph.example/${directive}/v1.0`

const federationDirectives: ReadonlySet<string> = new Set([
  ...['authenticated', 'composeDirective', 'context', 'cost', 'external', 'fromContext', 'inaccessible', 'interfaceObject', 'key', 'listSize'],
  ...['override', 'policy', 'provides', 'requires', 'requiresScopes', 'shareable', 'tag'],
])

/** The root types. */
export const rootTypes: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription'])

/**
 * Reads `subgraphs/<slug>/<noun>/schema.graphql` of one subgraph, or one folder deeper. Nouns write root fields as
 * `extend type Query { … }`, so that the files can be combined; `extend schema @link` and directive definitions are
 * generated. Adds mistakes to the given list, and omits a file with a syntax error.
 */
export async function readSubgraphSources(root: string, slug: string, mistakes: Mistake[]): Promise<SubgraphSources> {
  const folder = `subgraphs/${slug}`
  const nouns: SdlFile[] = []
  for (const name of await foldersIn(root, folder)) {
    // Related nouns may share a folder.
    const below = (await foldersIn(root, `${folder}/${name}`)).map(noun => `${name}/${noun}`)
    for (const place of [name, ...below]) {
      const noun = await readSdl(root, `${folder}/${place}/schema.graphql`, mistakes)
      if (noun) nouns.push(noun)
    }
  }
  if (nouns.length === 0 && !mistakes.some(({ file }) => file.startsWith(`${folder}/`))) {
    const sentence = `subgraph ${slug} has no ${folder}/<noun>/schema.graphql yet: add one, or take ${slug} out of supergraph.yaml`
    mistakes.push(inFile('supergraph.yaml', 'SUBGRAPH_MISSING', sentence))
  }
  const shared = await readSdl(root, 'subgraphs/shared.graphql', mistakes)
  mistakes.push(...mannersOf(nouns))
  const paged = withPages(nouns, shared, `schema/subgraphs/${slug}.graphql`, mistakes)
  const parts = [...paged.nouns, ...(paged.pages ? [paged.pages] : [])]
  const taken = sharedDefinitionsOf(parts, shared)
  return { slug, ...paged, shared: taken, header: headerOf(slug, parts, taken) }
}

async function foldersIn(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
    .sort()
}

async function readSdl(root: string, file: string, mistakes: Mistake[]): Promise<SdlFile | null> {
  const text = await readFile(join(root, file), 'utf8').catch(() => null)
  if (text === null || text.trim() === '') return null
  try {
    return { file, text, document: parse(new Source(text, file)) }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    mistakes.push(ofSource(error, 'SYNTAX_ERROR'))
    return null
  }
}

function mannersOf(nouns: readonly SdlFile[]): Mistake[] {
  const mistakes: Mistake[] = []
  const definedAt = new Map<string, string>()
  for (const { document } of nouns) {
    for (const node of document.definitions) {
      const place = node.loc
      if (!place) continue
      if (node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION) {
        mistakes.push(
          at(place, 'HEADER_IS_GENERATED', 'a noun does not write schema or extend schema: the @link header is generated from the directives in use'),
        )
      } else if (node.kind === Kind.DIRECTIVE_DEFINITION) {
        mistakes.push(at(place, 'DIRECTIVE_IN_NOUN', `directive @${node.name.value} belongs in subgraphs/shared.graphql, where every subgraph finds it`))
      } else if (node.kind === Kind.OBJECT_TYPE_DEFINITION && rootTypes.has(node.name.value)) {
        const sentence = `write "extend type ${node.name.value}": every noun adds its own root fields to the subgraph's`
        mistakes.push(at(place, 'ROOT_TYPE_NOT_EXTENDED', sentence))
      } else if ('name' in node && node.name && node.kind.endsWith('Definition')) {
        const before = definedAt.get(node.name.value)
        if (before) mistakes.push(at(place, 'TYPE_DEFINED_TWICE', `${node.name.value} is defined in ${before} already: keep one, or write "extend type"`))
        else definedAt.set(node.name.value, place.source.name)
      }
    }
  }
  return mistakes
}

function namesIn(node: DefinitionNode | DocumentNode): { types: Set<string>; directives: Set<string> } {
  const types = new Set<string>()
  const directives = new Set<string>()
  visit(node, { NamedType: ({ name }) => void types.add(name.value), Directive: ({ name }) => void directives.add(name.value) })
  return { types, directives }
}

function sharedDefinitionsOf(parts: readonly SdlFile[], shared: SdlFile | null): readonly DefinitionNode[] {
  if (!shared) return []
  const taken = new Set<DefinitionNode>()
  const take = (node: DefinitionNode | DocumentNode): void => {
    const names = namesIn(node)
    for (const candidate of shared.document.definitions) {
      if (taken.has(candidate) || !('name' in candidate) || !candidate.name) continue
      const wanted = candidate.kind === Kind.DIRECTIVE_DEFINITION ? names.directives : names.types
      if (!wanted.has(candidate.name.value)) continue
      taken.add(candidate)
      take(candidate)
    }
  }
  for (const { document } of parts) take(document)
  return shared.document.definitions.filter(node => taken.has(node))
}

function headerOf(slug: string, parts: readonly SdlFile[], shared: readonly DefinitionNode[]): SdlFile {
  const used = new Set([...parts.map(part => part.document), ...shared].flatMap(node => [...namesIn(node).directives]))
  const own = shared.flatMap(node => (node.kind === Kind.DIRECTIVE_DEFINITION ? [node.name.value] : [])).sort()
  if (own.length > 0) used.add('composeDirective')
  const imported = [...used]
    .filter(name => federationDirectives.has(name))
    .sort()
    .map(name => `"@${name}"`)
  const text = [
    'extend schema',
    `  @link(url: "${federationLink}", import: [${imported.join(', ')}])`,
    ...own.flatMap(name => [`  @link(url: "${ownLink(name)}", import: ["@${name}"])`, `  @composeDirective(name: "@${name}")`]),
  ].join('\n')
  const file = `schema/subgraphs/${slug}.graphql`
  return { file, text, document: parse(new Source(text, file)) }
}

/** Returns the document to compose: every node still refers to the file that a person wrote. */
export const documentOf = ({ header, shared, nouns, pages }: SubgraphSources): DocumentNode => ({
  kind: Kind.DOCUMENT,
  definitions: [...header.document.definitions, ...shared, ...nouns.flatMap(noun => noun.document.definitions), ...(pages?.document.definitions ?? [])],
})

/** Returns the document as text, with each part under the name of its file, as subgraphs load it and rover reads it. */
export function sdlOf({ slug, header, shared, nouns, pages }: SubgraphSources): string {
  const parts = [
    `# generated by npm run generate: edit subgraphs/${slug}/<noun>/schema.graphql instead`,
    header.text,
    ...(shared.length > 0 ? ['# subgraphs/shared.graphql', ...shared.map(({ loc }) => (loc ? loc.source.body.slice(loc.start, loc.end) : ''))] : []),
    ...nouns.flatMap(({ file, text }) => [`# ${file}`, text.replaceAll('\r\n', '\n').trim()]),
    ...(pages ? ['# the pages of lists', pages.text] : []),
  ]
  return `${parts.join('\n\n')}\n`
}

/**
 * Builds the schema of one subgraph by graphql-js, for tools without federation: the header is omitted and root types
 * are defined by their first extension. Nodes keep their directives, without definitions.
 */
export function executableOf(sources: SubgraphSources): GraphQLSchema {
  const defined = new Set<string>()
  const definitions = documentOf(sources).definitions.flatMap((node): DefinitionNode[] => {
    if (node.kind === Kind.SCHEMA_EXTENSION) return []
    if (node.kind !== Kind.OBJECT_TYPE_EXTENSION || !rootTypes.has(node.name.value) || defined.has(node.name.value)) return [node]
    defined.add(node.name.value)
    return [{ ...node, kind: Kind.OBJECT_TYPE_DEFINITION }]
  })
  return buildASTSchema({ kind: Kind.DOCUMENT, definitions }, { assumeValidSDL: true })
}
