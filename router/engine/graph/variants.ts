import {
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type TypeDefinitionNode,
  type TypeNode,
} from 'graphql'

/**
 * Says by `@tag` which part of a graph a variant shows, as GraphOS contracts do. A tag of an object or interface type
 * applies to each of its fields too.
 */
export interface VariantRule {
  /**
   * Tags of which a field of an object or interface type, or a union, needs one to be shown. Types of arguments and
   * leaves need none. @default everything is shown
   */
  readonly include?: readonly string[] | undefined
  /** Tags that hide whatever has one of them; they are stronger than `include`. @default nothing is hidden */
  readonly exclude?: readonly string[] | undefined
  /** Hides types to which no shown root field leads. @default true */
  readonly hideUnreachableTypes?: boolean | undefined
}

/** The variants of a graph: its part for some clients, by name. */
export interface Variants {
  readonly names: readonly string[]
  /** Returns the clients' schema of a variant, which is built at the first call; undefined for an unknown name. */
  schemaOf(name: string): GraphQLSchema | undefined
}

/** @param build makes the schema of a variant */
export function createVariants(rules: Readonly<Record<string, VariantRule>>, build: (rule: VariantRule) => GraphQLSchema): Variants {
  const built = new Map<string, GraphQLSchema>()
  return {
    names: Object.keys(rules),
    schemaOf(name) {
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
      if (!rule) return undefined
      const schema = built.get(name) ?? build(rule)
      built.set(name, schema)
      return schema
    },
  }
}

type Composite = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode
type Tagged = { readonly directives?: readonly DirectiveNode[] | undefined }

/**
 * Marks as `@inaccessible` what a variant hides of a supergraph. The result may be no valid schema, where a shown field
 * leads to a hidden type: generation tells.
 * @param machinery names of the types that clients never see
 */
export function markHidden(document: DocumentNode, rule: VariantRule, machinery: ReadonlySet<string>): DocumentNode {
  const shows = tagFilter(rule)
  const types = new Map<string, TypeDefinitionNode>()
  for (const definition of document.definitions) if (isType(definition) && !machinery.has(definition.name.value)) types.set(definition.name.value, definition)
  const shownFields = (type: Composite): readonly FieldDefinitionNode[] =>
    (type.fields ?? []).filter(field => !isMarked(field) && shows.field([...tagsOf(type), ...tagsOf(field)]))

  const hidden = new Set<string>()
  for (const [name, type] of types) {
    const isShown = isComposite(type)
      ? shownFields(type).length > 0
      : type.kind === Kind.UNION_TYPE_DEFINITION
        ? shows.field(tagsOf(type))
        : shows.other(tagsOf(type))
    if (isMarked(type) || !isShown) hidden.add(name)
  }
  // An abstract type of which no object is left has no values.
  for (const [name, members] of membersOf(types)) if (members.every(member => hidden.has(member))) hidden.add(name)
  if (rule.hideUnreachableTypes !== false) {
    const reached = reachedFrom(rootsOf(document), { types, hidden, shownFields, shows })
    for (const name of types.keys()) if (!reached.has(name)) hidden.add(name)
  }

  const other = <Node extends InputValueDefinitionNode | EnumValueDefinitionNode>(nodes: readonly Node[] = []): readonly Node[] =>
    nodes.map(node => (shows.other(tagsOf(node)) ? node : marked(node)))
  const definitions = document.definitions.map((definition): DefinitionNode => {
    if (!isType(definition) || machinery.has(definition.name.value)) return definition
    if (hidden.has(definition.name.value)) return marked(definition)
    if (isComposite(definition)) {
      const shown = new Set(shownFields(definition))
      const fields = definition.fields?.map(field => (shown.has(field) ? { ...field, arguments: other(field.arguments) } : marked(field))) ?? []
      return { ...definition, fields }
    }
    if (definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) return { ...definition, fields: other(definition.fields) }
    return definition.kind === Kind.ENUM_TYPE_DEFINITION ? { ...definition, values: other(definition.values) } : definition
  })
  return { ...document, definitions }
}

interface TagFilter {
  /** Whether a field of an object or interface type, or a union, is shown. */
  field(tags: readonly string[]): boolean
  /** Whether any other element is shown: it needs no tag to be included. */
  other(tags: readonly string[]): boolean
}

function tagFilter({ include = [], exclude = [] }: VariantRule): TagFilter {
  const [included, excluded] = [new Set(include), new Set(exclude)]
  const other = (tags: readonly string[]) => !tags.some(tag => excluded.has(tag))
  return { other, field: tags => other(tags) && (included.size === 0 || tags.some(tag => included.has(tag))) }
}

/** What decides which types are reached. */
interface Shown {
  readonly types: ReadonlyMap<string, TypeDefinitionNode>
  readonly hidden: ReadonlySet<string>
  readonly shows: TagFilter
  shownFields(type: Composite): readonly FieldDefinitionNode[]
}

/** Returns the names of the types to which shown fields lead. */
function reachedFrom(roots: readonly string[], { types, hidden, shows, shownFields }: Shown): ReadonlySet<string> {
  const members = membersOf(types)
  const isShown = (node: Tagged) => !isMarked(node) && shows.other(tagsOf(node))
  const reached = new Set<string>()
  /** Abstract types that a field has, so that their members are reached too. */
  const ofFields = new Set<string>()
  const visit = (name: string, isOfField: boolean): void => {
    const type = types.get(name)
    if (!type || hidden.has(name) || (reached.has(name) && (!isOfField || ofFields.has(name)))) return
    reached.add(name)
    if (isOfField) {
      ofFields.add(name)
      for (const member of members.get(name) ?? []) visit(member, true)
    }
    if (isComposite(type)) {
      for (const { name: above } of type.interfaces ?? []) visit(above.value, false)
      for (const field of shownFields(type)) {
        visit(namedType(field.type), true)
        for (const argument of field.arguments ?? []) if (isShown(argument)) visit(namedType(argument.type), true)
      }
    } else if (type.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) for (const field of type.fields ?? []) if (isShown(field)) visit(namedType(field.type), true)
  }
  for (const root of roots) visit(root, true)
  return reached
}

/** Returns the object types of each union and of each interface that has some. */
function membersOf(types: ReadonlyMap<string, TypeDefinitionNode>): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, string[]>()
  const add = (abstract: string, member: string) => members.set(abstract, [...(members.get(abstract) ?? []), member])
  for (const [name, type] of types) {
    if (type.kind === Kind.UNION_TYPE_DEFINITION) for (const member of type.types ?? []) add(name, member.name.value)
    if (type.kind === Kind.OBJECT_TYPE_DEFINITION) for (const above of type.interfaces ?? []) add(above.name.value, name)
  }
  return members
}

const rootsOf = ({ definitions }: DocumentNode): readonly string[] =>
  definitions.flatMap(node => (node.kind === Kind.SCHEMA_DEFINITION ? node.operationTypes.map(({ type }) => type.name.value) : []))

const isType = (node: DefinitionNode): node is TypeDefinitionNode => node.kind.endsWith('TypeDefinition')
const isComposite = (node: TypeDefinitionNode): node is Composite => node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION

const tagsOf = ({ directives = [] }: Tagged): readonly string[] =>
  directives.flatMap(({ name, arguments: given = [] }) =>
    name.value === 'tag' ? given.flatMap(({ value }) => (value.kind === Kind.STRING ? [value.value] : [])) : [],
  )

const isMarked = ({ directives = [] }: Tagged): boolean => directives.some(({ name }) => name.value === inaccessible.name.value)
const inaccessible: DirectiveNode = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'inaccessible' } }
const marked = <Node extends Tagged>(node: Node): Node => (isMarked(node) ? node : { ...node, directives: [...(node.directives ?? []), inaccessible] })

const namedType = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type))
