import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  type DocumentNode,
  Kind,
  type NamedTypeNode,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  Source,
  visit,
} from 'graphql'
import { at, type Mistake } from './mistake.ts'

/** An SDL file, parsed so that every node knows its file. */
export interface SdlFile {
  /** Path from the project's root, with forward slashes. */
  readonly file: string
  readonly text: string
  readonly document: DocumentNode
}

/** The directives that restrict who may see a type or field. */
export const rules: ReadonlySet<string> = new Set(['authenticated', 'requiresScopes', 'policy'])

/** Descriptions of a list's arguments where the schema gives none. */
const argumentsSay: Readonly<Record<string, string>> = {
  first: 'How many to a page: 1 to 100.',
  after: 'The `endCursor` of the page before.',
}

/**
 * Declares the length of a page for the cost limit (https://ibm.github.io/graphql-specs/cost-spec.html): `first`, which
 * has a default.
 */
const pageSize = '@listSize(slicingArguments: ["first"], sizedFields: ["nodes", "edges"], requireOneSlicingArgument: false)'
const pageSizeNode = (parse(`type Page ${pageSize} { page: ID }`).definitions[0] as ObjectTypeDefinitionNode).directives![0]!

/** A subgraph's schema files, completed for the lists that they declare. */
export interface Paged {
  /** The files as written, with descriptions of list arguments and the size of a page added. */
  readonly nouns: readonly SdlFile[]
  /** The types `XConnection` and `XEdge` of lists whose file does not declare them; null if there are none. */
  readonly pages: SdlFile | null
}

/**
 * Completes the lists of a subgraph: a noun writes `brands(first: Int = 20, after: String): BrandConnection`, and the
 * page type of `Brand` is added, visible to all who may read a brand. A page type that a noun declares itself stays
 * unchanged.
 * @param file path of the generated types
 * @param mistakes receives one for each page of something that is no object type in this subgraph
 */
export function withPages(nouns: readonly SdlFile[], shared: SdlFile | null, file: string, mistakes: Mistake[]): Paged {
  const defined = new Map<string, DefinitionNode>()
  for (const { document } of [...nouns, ...(shared ? [shared] : [])])
    for (const node of document.definitions) if ('name' in node && node.name && node.kind.endsWith('Definition')) defined.set(node.name.value, node)
  const written = new Map<string, string>()
  for (const { name, loc } of nouns.flatMap(namedTypesIn)) {
    const of = /^(\w+)Connection$/.exec(name.value)?.[1]
    if (!of || !loc || defined.has(name.value) || written.has(name.value)) continue
    const entry = defined.get(of)
    if (entry?.kind !== Kind.OBJECT_TYPE_DEFINITION) {
      const sentence = `${name.value} would be a page of ${of}, and ${of} is no object type of this subgraph: mend the name, or declare ${name.value} in the noun`
      mistakes.push(at(loc, 'PAGE_OF_NO_TYPE', sentence))
      continue
    }
    const rule = (entry.directives ?? []).filter(each => rules.has(each.name.value)).map(each => ` ${print(readersOf(each))}`)
    written.set(name.value, connectionOf(of, rule.join('')))
    if (!defined.has(`${of}Edge`)) written.set(`${of}Edge`, edgeOf(of, rule.join('')))
  }
  const text = [...written.values()].join('\n\n')
  const isList = (type: string): boolean => written.has(type) || (type.endsWith('Connection') && defined.has(type.replace(/Connection$/, 'Edge')))
  return {
    nouns: nouns.map(noun => withArguments(noun, isList)),
    pages: written.size > 0 ? { file, text, document: parse(new Source(text, file)) } : null,
  }
}

const connectionOf = (of: string, rule: string): string => `"A page of a list: entries of type \`${of}\`."
type ${of}Connection${rule} {
  "The entries themselves."
  nodes: [${of}]
  "The entries with a cursor each."
  edges: [${of}Edge]
  "Where the page stands in the list."
  pageInfo: PageInfo!
  "All that match, not only this page; counted only when it is asked for."
  totalCount: Int! @cost(weight: 10)
}`

const edgeOf = (of: string, rule: string): string => `"An entry of type \`${of}\` with its place in the list."
type ${of}Edge${rule} {
  "Hand it back as \`after\` to go on behind this entry."
  cursor: String!
  "The entry."
  node: ${of}
}`

/**
 * Returns a type's rule for its lists: only the alternatives with a scope for reading, because a viewer who may only
 * write gets the written record and no lists. A rule without such an alternative is used unchanged.
 */
function readersOf(rule: ConstDirectiveNode): ConstDirectiveNode {
  if (rule.name.value !== 'requiresScopes') return rule
  const reads = (value: ConstValueNode): boolean =>
    value.kind === Kind.LIST ? value.values.every(reads) : value.kind === Kind.STRING && value.value.endsWith('.read')
  return {
    ...rule,
    arguments: (rule.arguments ?? []).map(argument => {
      if (argument.value.kind !== Kind.LIST) return argument
      const values = argument.value.values.filter(reads)
      return values.length > 0 ? { ...argument, value: { ...argument.value, values } } : argument
    }),
  }
}

function namedTypesIn({ document }: SdlFile): readonly NamedTypeNode[] {
  const found: NamedTypeNode[] = []
  visit(document, { NamedType: node => void found.push(node) })
  return found
}

/**
 * Adds descriptions of `first` and `after` and the length of a page where the noun has none, both in the text and in
 * the document, whose positions stay those of the noun.
 */
function withArguments(noun: SdlFile, isList: (type: string) => boolean): SdlFile {
  const said: { readonly at: number; readonly text: string }[] = []
  const document = visit(noun.document, {
    FieldDefinition(field) {
      if (field.type.kind !== Kind.NAMED_TYPE || !isList(field.type.name.value)) return undefined
      const described = field.arguments?.map(argument => {
        const text = argumentsSay[argument.name.value]
        if (!text || argument.description || !argument.loc) return argument
        said.push({ at: argument.loc.start, text: `"${text}" ` })
        return { ...argument, description: { kind: Kind.STRING, value: text } as const }
      })
      const end = field.type.loc?.end
      const isSized = !described?.some(({ name }) => name.value === 'first') || field.directives?.some(({ name }) => name.value === 'listSize')
      if (end === undefined || isSized) return { ...field, ...(described && { arguments: described }) }
      said.push({ at: end, text: ` ${pageSize}` })
      return { ...field, arguments: described, directives: [pageSizeNode, ...(field.directives ?? [])] }
    },
  })
  const text = said.reduceRight((whole, each) => `${whole.slice(0, each.at)}${each.text}${whole.slice(each.at)}`, noun.text)
  return { ...noun, document, text }
}
