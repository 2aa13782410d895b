import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildASTSchema,
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  Kind,
  type NameNode,
  parse,
  print,
  type TypeDefinitionNode,
  type TypeNode,
} from 'graphql'
import { readSupergraphYaml } from '../../schema/source/yaml.ts'

const root = join(import.meta.dirname, '../..')
const rootTypes: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription'])
const accessDirectives: ReadonlySet<string> = new Set(['authenticated', 'requiresScopes', 'policy'])

/** A field as one place writes it. */
export interface Field {
  /** `Type.field`. */
  readonly coordinate: string
  readonly owner: string
  readonly name: string
  readonly node: FieldDefinitionNode
  /** The named type at the end of lists and non-nulls. */
  readonly type: string
  readonly nullable: boolean
  /** Its access directives as text, sorted; empty without a rule. */
  readonly rules: readonly string[]
}

/** A type of a subgraph or of the supergraph, with everything that extensions add to it. */
export interface Type {
  readonly name: string
  readonly kind: TypeDefinitionNode['kind']
  readonly description: string | undefined
  readonly directives: readonly ConstDirectiveNode[]
  readonly rules: readonly string[]
  readonly fields: readonly Field[]
  /** Members of a union, interfaces of an object. */
  readonly named: readonly string[]
}

/** One of the subgraphs, read from its joined SDL. */
export interface SubgraphTypes {
  readonly slug: string
  readonly types: ReadonlyMap<string, Type>
}

const read = (file: string): DocumentNode => {
  try {
    return parse(readFileSync(join(root, file), 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read, so no rule about the graph can be tested: npm run generate (${(error as Error).message})`)
  }
}

/** The subgraphs of supergraph.yaml. Throws when the list is empty or the SDL of one is not there. */
export async function readSubgraphs(): Promise<readonly SubgraphTypes[]> {
  const { subgraphs } = await readSupergraphYaml(root)
  if (subgraphs.length === 0) throw new Error('supergraph.yaml lists no subgraph: there is nothing to test')
  return subgraphs.map(({ slug, schemaFile }) => ({ slug, types: typesOf(read(schemaFile)) }))
}

/** The supergraph's types with the access rules that composition merged, without the machinery of federation. */
export const readSupergraphTypes = (): ReadonlyMap<string, Type> => typesOf(read('schema/supergraph.graphql'))

/** What clients see. */
export const readApi = (): { readonly schema: GraphQLSchema; readonly document: DocumentNode } => {
  const document = read('schema/api.graphql')
  return { schema: buildASTSchema(document), document }
}

function typesOf(document: DocumentNode): ReadonlyMap<string, Type> {
  const types = new Map<string, Type>()
  for (const node of document.definitions) {
    if (!('name' in node) || !node.name || node.kind === Kind.DIRECTIVE_DEFINITION || !('directives' in node)) continue
    const name = node.name.value
    if (name.includes('__') || node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) continue
    const before = types.get(name)
    const directives = [...(before?.directives ?? []), ...((node.directives as readonly ConstDirectiveNode[]) ?? [])]
    const isOutput = 'fields' in node && node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION && node.kind !== Kind.INPUT_OBJECT_TYPE_EXTENSION
    const fields = isOutput ? ((node.fields ?? []) as readonly FieldDefinitionNode[]).map(field => fieldOf(name, field)) : []
    const named = 'types' in node ? node.types : 'interfaces' in node ? node.interfaces : undefined
    types.set(name, {
      name,
      kind: node.kind.replace('Extension', 'Definition') as TypeDefinitionNode['kind'],
      description: before?.description ?? ('description' in node ? node.description?.value : undefined),
      directives,
      rules: rulesOf(directives),
      fields: [...(before?.fields ?? []), ...fields],
      named: [...(before?.named ?? []), ...(named ?? []).map((each: { readonly name: NameNode }) => each.name.value)],
    })
  }
  return types
}

const fieldOf = (owner: string, node: FieldDefinitionNode): Field => ({
  coordinate: `${owner}.${node.name.value}`,
  owner,
  name: node.name.value,
  node,
  type: namedType(node.type),
  nullable: node.type.kind !== Kind.NON_NULL_TYPE,
  rules: rulesOf(node.directives ?? []),
})

const rulesOf = (directives: readonly ConstDirectiveNode[]): readonly string[] =>
  directives
    .filter(({ name }) => accessDirectives.has(name.value))
    .map(directive => print(directive))
    .sort()

/** The name at the end of lists and non-nulls. */
export const namedType = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type))

/** Whether a field or type carries a directive. */
export const carries = (directives: readonly ConstDirectiveNode[] | undefined, name: string): boolean =>
  directives?.some(directive => directive.name.value === name) ?? false

export const isRoot = (typeName: string): boolean => rootTypes.has(typeName)

/** The names of an entity's key fields in one subgraph, the outermost level of each key. */
export function keyFieldsOf(type: Type): ReadonlySet<string> {
  const keys = type.directives.filter(({ name }) => name.value === 'key')
  const names = keys.flatMap(key => {
    const fields = key.arguments?.find(({ name }) => name.value === 'fields')?.value
    return fields?.kind === Kind.STRING ? (fields.value.replaceAll(/\{[^}]*\}/g, ' ').match(/\w+/g) ?? []) : []
  })
  return new Set(names)
}

/** What each subgraph gives to each entity, beyond keys and @external fields: entity → slug → sorted field names. */
export function contributions(subgraphs: readonly SubgraphTypes[]): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, Map<string, readonly string[]>>()
  for (const { slug, types } of subgraphs) {
    for (const type of types.values()) {
      const keys = keyFieldsOf(type)
      if (keys.size === 0) continue
      const own = type.fields.filter(field => !keys.has(field.name) && !carries(field.node.directives, 'external')).map(({ name }) => name)
      const bySlug = found.get(type.name) ?? new Map<string, readonly string[]>()
      found.set(type.name, bySlug)
      if (own.length > 0) bySlug.set(slug, own.sort())
    }
  }
  return found
}
