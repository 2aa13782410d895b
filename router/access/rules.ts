import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  type TypeNode,
  valueFromASTUntyped,
} from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { meetsPolicy } from './policies.ts'

/**
 * One use of an access directive. `any` is a disjunction of conjunctions, as in the directive's argument: all entries
 * of one inner list must be met.
 */
export type Requirement = { readonly id: number } & (
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'scopes'; readonly any: readonly (readonly string[])[] }
  | { readonly kind: 'policies'; readonly any: readonly (readonly string[])[] }
)

/** Access rule of a field: all of `all`, and for a field of union type the requirements of one of its members. */
export interface FieldRule {
  /** Requirements of the field and of its type; every one must be met. */
  readonly all: readonly Requirement[]
  /**
   * Requirements of each member when the field's type is a union: the viewer must be permitted one member. Null
   * otherwise.
   */
  readonly members: readonly (readonly Requirement[])[] | null
  /** The name of the type that the field leads to, without list and non-null. */
  readonly type: string
}

/** The access rules of a supergraph. */
export interface AccessTable {
  /** Rules of objects, interfaces (the conjunction of their implementers'), scalars and enums. */
  readonly types: ReadonlyMap<string, readonly Requirement[]>
  /** Access rules of fields, by type, then by field name. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, FieldRule>>
  /** Names of interfaces and unions. */
  readonly abstract: ReadonlySet<string>
  readonly roots: { readonly query: string; readonly mutation: string; readonly subscription: string }
  /** Every distinct requirement; its index is its id. */
  readonly requirements: readonly Requirement[]
}

/** Whether a viewer meets one requirement. */
export function meets(requirement: Requirement, viewer: Viewer): boolean {
  switch (requirement.kind) {
    case 'authenticated':
      return viewer.kind !== 'anonymous'
    case 'scopes':
      return requirement.any.some(all => all.every(scope => viewer.scopes.includes(scope)))
    case 'policies':
      return requirement.any.some(all => all.every(name => meetsPolicy(name, viewer)))
  }
}

const features = { authenticated: 'authenticated', requiresScopes: 'scopes', policy: 'policies' } as const
type Feature = keyof typeof features

/**
 * Reads the access directives of a supergraph. Interfaces, and their fields, get the conjunction of their implementers'
 * requirements, whether or not composition wrote it down.
 * @param supergraph SDL as composition writes it, with its `@link`s
 */
export function readAccessTable(supergraph: string | DocumentNode): AccessTable {
  const document = typeof supergraph === 'string' ? parse(supergraph, { noLocation: true }) : supergraph
  const names = directiveNames(document.definitions)
  const requirements: Requirement[] = []
  const byText = new Map<string, Requirement>()

  const requirementOf = (directive: ConstDirectiveNode): Requirement | undefined => {
    const feature = names.get(directive.name.value)
    if (!feature) return undefined
    const argument = directive.arguments?.find(each => each.name.value === (feature === 'requiresScopes' ? 'scopes' : 'policies'))
    const any = argument ? disjunction(valueFromASTUntyped(argument.value)) : []
    const text = JSON.stringify([feature, any])
    const known = byText.get(text)
    if (known) return known
    const id = requirements.length
    const made: Requirement = feature === 'authenticated' ? { id, kind: 'authenticated' } : { id, kind: features[feature], any }
    requirements.push(made)
    byText.set(text, made)
    return made
  }
  const read = (directives: readonly ConstDirectiveNode[] | undefined) => (directives ?? []).map(requirementOf).filter(each => each !== undefined)

  const types = new Map<string, readonly Requirement[]>()
  const ownRules = new Map<string, Map<string, readonly Requirement[]>>()
  const leadsTo = new Map<string, Map<string, string>>()
  const unions = new Map<string, readonly string[]>()
  const abstract = new Set<string>()
  const implementers = new Map<string, ObjectTypeDefinitionNode[]>()
  for (const definition of document.definitions) {
    switch (definition.kind) {
      case Kind.SCALAR_TYPE_DEFINITION:
      case Kind.ENUM_TYPE_DEFINITION:
        types.set(definition.name.value, read(definition.directives))
        break
      case Kind.UNION_TYPE_DEFINITION:
        abstract.add(definition.name.value)
        unions.set(
          definition.name.value,
          (definition.types ?? []).map(type => type.name.value),
        )
        break
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION: {
        const name = definition.name.value
        if (definition.kind === Kind.INTERFACE_TYPE_DEFINITION) abstract.add(name)
        types.set(name, read(definition.directives))
        ownRules.set(name, new Map(definition.fields?.map(field => [field.name.value, read(field.directives)])))
        leadsTo.set(name, new Map(definition.fields?.map(field => [field.name.value, namedType(field.type)])))
        if (definition.kind === Kind.OBJECT_TYPE_DEFINITION)
          for (const each of definition.interfaces ?? []) implementers.set(each.name.value, [...(implementers.get(each.name.value) ?? []), definition])
      }
    }
  }
  for (const [name, objects] of implementers) {
    types.set(name, together([types.get(name) ?? [], ...objects.map(object => types.get(object.name.value)!)]))
    for (const [field, own] of ownRules.get(name) ?? [])
      ownRules.get(name)!.set(field, together([own, ...objects.map(object => ownRules.get(object.name.value)!.get(field) ?? [])]))
  }

  const fields = new Map<string, ReadonlyMap<string, FieldRule>>()
  for (const [name, own] of ownRules) {
    const rules = new Map<string, FieldRule>()
    for (const [field, requirements] of own) {
      const type = leadsTo.get(name)!.get(field)!
      const members = unions.get(type)?.map(member => types.get(member) ?? []) ?? null
      rules.set(field, { all: together([requirements, types.get(type) ?? []]), members, type })
    }
    fields.set(name, rules)
  }
  return { types, fields, abstract, roots: rootNames(document.definitions), requirements }
}

/**
 * Reads an argument of type `[[String!]!]!`: a value in place of a list means the list with that value alone (GraphQL,
 * section 3.11).
 */
const disjunction = (written: unknown): readonly (readonly string[])[] => listOf(written).map(all => listOf(all).map(String).sort())

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/**
 * Returns the name of each access directive, by the schema's `@link`s: imported, renamed or with its prefix.
 * @throws Error for an unknown security feature: serving the supergraph would ignore its rules
 */
export function directiveNames(definitions: readonly DefinitionNode[]): ReadonlyMap<string, Feature> {
  const names = new Map<string, Feature>()
  for (const definition of definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue
    for (const link of definition.directives ?? []) {
      const feature = accessFeature(link)
      if (!feature) {
        refuseUnknownSecurity(link)
        continue
      }
      const values = valuesOf(link)
      const imported = ((values.import ?? []) as (string | { name: string; as?: string })[]).find(
        each => (typeof each === 'string' ? each : each.name) === `@${feature}`,
      )
      const alias = typeof imported === 'object' ? (imported.as ?? imported.name) : imported
      names.set(alias?.slice(1) ?? (values.as as string | undefined) ?? feature, feature)
    }
  }
  return names
}

/** Returns the access directive that a `@link` of the schema refers to, if any; the link may rename it. */
export const accessFeature = (link: DirectiveNode): Feature | undefined =>
  /\/(authenticated|requiresScopes|policy)\/v0\.1$/.exec(String(valuesOf(link).url))?.[1] as Feature | undefined

/** Features with purpose SECURITY that require nothing of a viewer. */
const withoutRules = /\/(inaccessible\/v0\.[12]|context\/v0\.1)$/

function refuseUnknownSecurity(link: DirectiveNode): void {
  const { url, for: purpose } = valuesOf(link)
  if (typeof url !== 'string' || purpose !== 'SECURITY' || withoutRules.test(url)) return
  throw new Error(`The supergraph is guarded by ${url}, which this router does not know: compose it without, or serve it with a router that knows it.`)
}

const valuesOf = (directive: DirectiveNode): Record<string, unknown> =>
  Object.fromEntries((directive.arguments ?? []).map(each => [each.name.value, valueFromASTUntyped(each.value)]))

function rootNames(definitions: readonly DefinitionNode[]): AccessTable['roots'] {
  const roots = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' }
  for (const definition of definitions)
    if (definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION)
      for (const each of definition.operationTypes ?? []) roots[each.operation] = each.type.name.value
  return roots
}

const namedType = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type))

const together = (lists: readonly (readonly Requirement[])[]): readonly Requirement[] => [...new Set(lists.flat())]
