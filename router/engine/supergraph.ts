import {
  buildASTSchema,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  GraphQLSchema,
  type InputValueDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type NamedTypeNode,
  parse,
  print,
  type TypeNode,
  valueFromASTUntyped,
  visit,
} from 'graphql'
import { type AccessTable, readAccessTable } from '../access/rules.ts'
import { readSharing, type SharingTable } from '../access/sharing.ts'
import { withoutAccess } from '../access/strip.ts'
import { type CacheHints, readCacheHints } from './graph/cache-hints.ts'
import { readSubgraphTypes, type SubgraphTypes } from './graph/subgraph-types.ts'
import { createVariants, markHidden, type VariantRule, type Variants } from './graph/variants.ts'
import { type Costs, readCosts } from './operation/cost/costs.ts'
import { type OverrideLabels, readOverrideLabels } from './operation/overrides/labels.ts'
import { type PatienceTable, readPatience } from './operation/patience.ts'

/**
 * The supergraph as the router uses it: the clients' schema, access rules, and the type facts that running plans needs.
 */
export interface Supergraph {
  readonly sdl: string
  /** Rules read from the supergraph's access directives. */
  readonly access: AccessTable
  /** Fields whose answers are the same for many viewers. */
  readonly sharing: SharingTable
  /** Fields that may take longer than usual. */
  readonly patience: PatienceTable
  /** How long answers may be kept. */
  readonly hints: CacheHints
  /** Labels of progressive overrides; null where no field has one. */
  readonly overrides: OverrideLabels | null
  /** The SDL without the access directives. */
  stripped(): string
  /** Costs declared by `@cost` and `@listSize`. */
  readonly costs: Costs
  /** The schema for clients: no federation machinery, nothing inaccessible, no directive but GraphQL's own, `@defer` and `@stream`. */
  readonly schema: GraphQLSchema
  /** The parts of it that are served to some clients. */
  readonly variants: Variants
  /** Whether an object type has this name, inaccessible ones included. */
  isObject(name: string): boolean
  /** Whether an object of type `typename` satisfies the type condition, inaccessible types included. */
  covers(condition: string, typename: string): boolean
  /** Whether a scalar or an enum has this name. */
  isLeaf(name: string): boolean
  readonly subgraphTypes: SubgraphTypes
  /** `Type.field` for every interface field that is missing in some of the subgraphs that know the interface. */
  readonly scattered: ReadonlySet<string>
  /** `Type.field` for every field that takes values from contexts (`@fromContext`), and its counterparts on interfaces. */
  readonly contextual: ReadonlySet<string>
  /**
   * `Type.field` for every field that takes arguments, or whose counterpart on an interface or an implementation does.
   */
  readonly withArguments: ReadonlySet<string>
  /**
   * `Type.field` for the keys of `interfaceObjects`, and for the counterparts of these keys on interfaces and
   * implementations.
   */
  readonly interfaceKeys: ReadonlySet<string>
  /** Interfaces that some subgraphs know as object types (`@interfaceObject`), by name. */
  readonly interfaceObjects: ReadonlyMap<string, InterfaceObject>
  /** `Type.field` for every field answered by a subgraph that knows the field's interface as an object type. */
  readonly yieldingInterfaceObjects: ReadonlySet<string>
  /** `Type.field` to the name of the field's type without lists and nullability, inaccessible fields included. */
  readonly fieldTypes: ReadonlyMap<string, string>
  /** Every field name of the supergraph, so that a private name can avoid them. */
  readonly fieldNames: ReadonlySet<string>
}

/** An interface in the form of subgraphs that do not know its implementations (`@interfaceObject`). */
export interface InterfaceObject {
  /** Key fields by which the interface is fetched, without keys that have nested selections. */
  readonly keys: readonly string[]
  /** Fields that only such subgraphs answer, so that the planner fetches them there for every implementation. */
  readonly fields: ReadonlySet<string>
  /** `Type.field` for those of its fields that some implementation gets from a subgraph of its own. */
  readonly owned: ReadonlySet<string>
  /** Names of the subgraphs in the enum `join__Graph`. */
  readonly graphs: ReadonlySet<string>
}

/**
 * Reads a supergraph once. Throws a GraphQLError for a text that is no supergraph.
 * @param variants rules of its variants by name, for which the text was generated @default none
 */
export function readSupergraph(sdl: string, variants: Readonly<Record<string, VariantRule>> = {}): Supergraph {
  const document = parse(sdl, { noLocation: true })
  const objects = new Set<string>()
  const members = new Map<string, Set<string>>()
  const leaves = new Set(['Int', 'Float', 'String', 'Boolean', 'ID'])
  for (const definition of document.definitions) {
    if (definition.kind === Kind.SCALAR_TYPE_DEFINITION || definition.kind === Kind.ENUM_TYPE_DEFINITION) leaves.add(definition.name.value)
  }
  const scattered = new Set<string>()
  const withArguments = new Set<string>()
  const contextual = new Set<string>()
  const fieldTypes = new Map<string, string>()
  const fieldNames = new Set<string>()
  const interfaceObjects = new Map<string, InterfaceObject>()
  const addMember = (abstract: string, member: string) => {
    const known = members.get(abstract)
    if (known) known.add(member)
    else members.set(abstract, new Set([member]))
  }
  for (const definition of document.definitions) {
    if (definition.kind === Kind.UNION_TYPE_DEFINITION) {
      for (const member of definition.types ?? []) addMember(definition.name.value, member.name.value)
    }
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    if (definition.kind === Kind.OBJECT_TYPE_DEFINITION) objects.add(definition.name.value)
    else {
      const known = interfaceObjectOf(definition, document)
      if (known) interfaceObjects.set(definition.name.value, known)
      for (const name of scatteredIn(definition)) scattered.add(`${definition.name.value}.${name}`)
    }
    for (const parent of definition.interfaces ?? []) addMember(parent.name.value, definition.name.value)
    for (const field of definition.fields ?? []) {
      fieldNames.add(field.name.value)
      fieldTypes.set(`${definition.name.value}.${field.name.value}`, namedType(field.type))
      if (uses(field.directives, 'join__field').some(({ contextArguments }) => contextArguments !== undefined))
        contextual.add(`${definition.name.value}.${field.name.value}`)
      if (field.arguments?.length) withArguments.add(`${definition.name.value}.${field.name.value}`)
    }
  }
  const schema = clientSchema(document)
  return {
    sdl,
    access: readAccessTable(document),
    sharing: readSharing(document),
    patience: readPatience(document),
    hints: readCacheHints(document),
    overrides: readOverrideLabels(document, schema),
    costs: readCosts(document),
    stripped: () => print(withoutAccess(document)),
    schema,
    // Parsed again, because the tree would take memory for as long as no client asks a variant.
    variants: createVariants(variants, rule => clientSchema(variantDocument(parse(sdl, { noLocation: true }), rule))),
    isObject: name => objects.has(name),
    covers: (condition, typename) => condition === typename || (members.get(condition)?.has(typename) ?? false),
    isLeaf: name => leaves.has(name),
    subgraphTypes: readSubgraphTypes(document),
    scattered,
    contextual: alsoOnRelatives(contextual, document, fieldTypes),
    withArguments: alsoOnRelatives(withArguments, document, fieldTypes),
    interfaceKeys: alsoOnRelatives(keysOf(interfaceObjects), document, fieldTypes),
    interfaceObjects,
    yieldingInterfaceObjects: yieldingIn(document, interfaceObjects),
    fieldTypes,
    fieldNames,
  }
}

/** Returns a supergraph in which everything is inaccessible that a variant hides. */
export const variantDocument = (document: DocumentNode, rule: VariantRule): DocumentNode => markHidden(document, rule, machineryTypes(document))

/** Returns what clients see of a supergraph. */
export const clientSchema = (document: DocumentNode): GraphQLSchema => buildASTSchema(clientDocument(document), { assumeValidSDL: true })

/** Adds the counterparts of fields: the same fields on their types' interfaces, and on the implementations of these. */
function alsoOnRelatives(fields: ReadonlySet<string>, document: DocumentNode, known: Pick<ReadonlyMap<string, unknown>, 'has'>): Set<string> {
  const all = new Set(fields)
  const pairs = document.definitions.flatMap(definition => {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) return []
    const { name, interfaces = [], fields: own = [] } = definition
    return interfaces.flatMap(above => own.map(field => [`${above.name.value}.${field.name.value}`, `${name.value}.${field.name.value}`] as const))
  })
  const related = pairs.filter(([above]) => known.has(above))
  for (let size = -1; size !== all.size; ) {
    size = all.size
    for (const [above, below] of related) if (all.has(above) || all.has(below)) all.add(above).add(below)
  }
  return all
}

function interfaceObjectOf({ name, directives, fields = [] }: InterfaceTypeDefinitionNode, document: DocumentNode): InterfaceObject | null {
  const joins = uses(directives, 'join__type')
  const graphs = new Set(joins.filter(join => join.isInterfaceObject === true).map(join => String(join.graph)))
  if (graphs.size === 0) return null
  const keys = joins.flatMap(({ key }) => (typeof key === 'string' && !key.includes('{') ? key.trim().split(/[\s,]+/) : []))
  const given = fields.filter(field => {
    const owners = uses(field.directives, 'join__field').filter(({ external }) => external !== true)
    return owners.length > 0 && owners.every(({ graph }) => graphs.has(String(graph)))
  })
  return { keys: [...new Set(keys)], fields: new Set(given.map(field => field.name.value)), owned: ownedBelow(name.value, document), graphs }
}

function scatteredIn({ directives, fields = [] }: InterfaceTypeDefinitionNode): string[] {
  const graphsOf = (joins: readonly Record<string, unknown>[]) => new Set(joins.filter(({ external }) => external !== true).map(({ graph }) => graph)).size
  const all = graphsOf(uses(directives, 'join__type'))
  return fields
    .filter(field => field.directives?.some(({ name }) => name.value === 'join__field') && graphsOf(uses(field.directives, 'join__field')) < all)
    .map(field => field.name.value)
}

const keysOf = (interfaceObjects: ReadonlyMap<string, InterfaceObject>) =>
  new Set([...interfaceObjects].flatMap(([name, { keys }]) => keys.map(key => `${name}.${key}`)))

/** A field that an implementation has from an interface object alone carries a join that names no graph. */
function ownedBelow(interfaceName: string, document: DocumentNode): Set<string> {
  const owned = new Set<string>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    if (!definition.interfaces?.some(({ name }) => name.value === interfaceName)) continue
    for (const field of definition.fields ?? []) {
      const joins = uses(field.directives, 'join__field')
      if (joins.length === 0 || joins.some(({ graph }) => graph !== undefined)) owned.add(`${definition.name.value}.${field.name.value}`)
    }
  }
  return owned
}

function yieldingIn(document: DocumentNode, interfaceObjects: Supergraph['interfaceObjects']): Set<string> {
  const yielding = new Set<string>()
  if (interfaceObjects.size === 0) return yielding
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    const ofType = uses(definition.directives, 'join__type')
    for (const field of definition.fields ?? []) {
      const known = interfaceObjects.get(namedType(field.type))
      const joins = uses(field.directives, 'join__field')
      // A join without a graph stands for the interface object itself.
      if (known && (joins.length > 0 ? joins : ofType).some(({ graph }) => graph === undefined || known.graphs.has(String(graph))))
        yielding.add(`${definition.name.value}.${field.name.value}`)
    }
  }
  return yielding
}

/** The arguments of every use of a directive. */
const uses = (directives: readonly DirectiveNode[] | undefined, name: string): Record<string, unknown>[] =>
  (directives ?? [])
    .filter(directive => directive.name.value === name)
    .map(({ arguments: given = [] }) => Object.fromEntries(given.map(argument => [argument.name.value, valueFromASTUntyped(argument.value)])))

/** The directives by which clients ask for parts of an answer later. */
const incrementalDirectives: readonly DefinitionNode[] = parse(
  '"""Sends the fragment after the rest of the answer, to clients that take incremental answers.""" directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT """Sends all but the first elements of a list after the rest of the answer, to clients that take incremental answers.""" directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD',
  { noLocation: true },
).definitions

/** Returns a client schema without the directives by which clients ask for parts of an answer later. */
export function withoutIncremental(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig()
  return new GraphQLSchema({ ...config, directives: config.directives.filter(({ name }) => name !== 'defer' && name !== 'stream'), assumeValid: true })
}

const ownDirectives = new Set(['deprecated', 'specifiedBy', 'oneOf'])

/**
 * Returns the clients' part of a supergraph document: without `@inaccessible` elements, without directives that are not
 * GraphQL's own, and without types that served only those directives.
 */
function clientDocument(document: DocumentNode): DocumentNode {
  const machinery = machineryTypes(document)
  const hidden = new Set(machinery)
  for (const definition of document.definitions) {
    if ('name' in definition && definition.name && 'directives' in definition && isHidden(definition)) hidden.add(definition.name.value)
  }
  const keepName = (node: NamedTypeNode) => !hidden.has(node.name.value)
  const kept = <Node extends FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode>(nodes: readonly Node[] | undefined) =>
    nodes?.filter(node => !isHidden(node))
  const definitions: DefinitionNode[] = []
  for (const definition of document.definitions) {
    switch (definition.kind) {
      case Kind.DIRECTIVE_DEFINITION:
        break
      case Kind.SCHEMA_DEFINITION:
        definitions.push({ ...definition, operationTypes: definition.operationTypes.filter(node => keepName(node.type)) })
        break
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION:
        if (hidden.has(definition.name.value)) break
        definitions.push({
          ...definition,
          interfaces: definition.interfaces?.filter(keepName) ?? [],
          fields: kept(definition.fields)?.map(field => ({ ...field, arguments: kept(field.arguments) ?? [] })) ?? [],
        })
        break
      case Kind.UNION_TYPE_DEFINITION:
        if (!hidden.has(definition.name.value)) definitions.push({ ...definition, types: definition.types?.filter(keepName) ?? [] })
        break
      case Kind.ENUM_TYPE_DEFINITION:
        if (!hidden.has(definition.name.value)) definitions.push({ ...definition, values: kept(definition.values) ?? [] })
        break
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        if (!hidden.has(definition.name.value)) definitions.push({ ...definition, fields: kept(definition.fields) ?? [] })
        break
      case Kind.SCALAR_TYPE_DEFINITION:
        if (!hidden.has(definition.name.value)) definitions.push(definition)
        break
      default:
        break
    }
  }
  definitions.push(...incrementalDirectives)
  return visit({ kind: Kind.DOCUMENT, definitions }, { Directive: node => (ownDirectives.has(node.name.value) ? undefined : null) })
}

const isHidden = (node: { readonly directives?: readonly DirectiveNode[] | undefined }) =>
  node.directives?.some(directive => directive.name.value === 'inaccessible') ?? false

/** Names of the types of linked features (`join__Graph`), and of types that only directive arguments use. */
function machineryTypes(document: DocumentNode): Set<string> {
  const features = new Set<string>(['join', 'link', 'core'])
  const byDirectives = new Set<string>()
  const byClients = new Set<string>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.SCHEMA_DEFINITION) {
      for (const directive of definition.directives ?? []) {
        for (const argument of directive.arguments ?? []) {
          if (argument.value.kind !== Kind.STRING) continue
          if (argument.name.value === 'as') features.add(argument.value.value)
          if (argument.name.value === 'url') features.add(new URL(argument.value.value).pathname.split('/').at(-2) ?? '')
        }
      }
    } else if (definition.kind === Kind.DIRECTIVE_DEFINITION) {
      for (const argument of definition.arguments ?? []) byDirectives.add(namedType(argument.type))
    } else if (definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) {
      for (const field of definition.fields ?? []) byClients.add(namedType(field.type))
    } else if (definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.INTERFACE_TYPE_DEFINITION) {
      for (const field of definition.fields ?? []) {
        byClients.add(namedType(field.type))
        for (const argument of field.arguments ?? []) byClients.add(namedType(argument.type))
      }
    }
  }
  const machinery = new Set<string>()
  for (const definition of document.definitions) {
    if (!('name' in definition) || !definition.name) continue
    const name = definition.name.value
    const split = name.indexOf('__')
    if (split > 0 && features.has(name.slice(0, split))) machinery.add(name)
    if (byDirectives.has(name) && !byClients.has(name)) machinery.add(name)
  }
  return machinery
}

const namedType = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type))
