import { type DirectiveNode, type DocumentNode, type InterfaceTypeDefinitionNode, Kind, type ObjectTypeDefinitionNode, valueFromASTUntyped } from 'graphql'
import { graphNames } from './subgraph-types.ts'

/** One use of `@cacheControl`. */
export interface CacheHint {
  /** Seconds. */
  readonly maxAge: number | undefined
  readonly isPrivate: boolean | undefined
  /** Whether the field has its parent's age. */
  readonly inherits: boolean
  /** Whether it is of an interface's field for which some implementation names no age. @default false */
  readonly isPartial?: boolean
}

/** What a supergraph says of keeping answers. */
export interface CacheHints {
  /** Hints of fields, by `Type.field`. Those of an interface's field hold whatever its implementations say. */
  readonly fields: ReadonlyMap<string, CacheHint>
  /** Hints of object types, interfaces and unions, by name. */
  readonly types: ReadonlyMap<string, CacheHint>
  /** Formats of the tags (`@cacheTag`) of root fields, by `Type.field`, and of entities, by type name. */
  readonly tags: ReadonlyMap<string, readonly CacheTag[]>
}

/** One use of `@cacheTag` in a subgraph. */
export interface CacheTag {
  /** Subgraphs that declare it. */
  readonly subgraphs: readonly string[]
  /** Text with `{$args.x}` or `{$key.x}`. */
  readonly format: string
}

/** Reads the hints of a supergraph. A `@cacheControl` that says nothing readable counts as none. */
export function readCacheHints(document: DocumentNode): CacheHints {
  const { definitions } = document
  const subgraphs = graphNames(document)
  const fields = new Map<string, CacheHint>()
  const types = new Map<string, CacheHint>()
  const tags = new Map<string, readonly CacheTag[]>()
  const interfaces: InterfaceTypeDefinitionNode[] = []
  const objects: ObjectTypeDefinitionNode[] = []
  const read = (into: Map<string, CacheHint>, name: string, directives: readonly DirectiveNode[] | undefined) => {
    const hint = hintOf(directives)
    if (hint) into.set(name, hint)
    const own = tagsOf(directives, subgraphs)
    if (own.length > 0) tags.set(name, own)
  }
  for (const definition of definitions) {
    if (definition.kind === Kind.UNION_TYPE_DEFINITION) read(types, definition.name.value, definition.directives)
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    if (definition.kind === Kind.INTERFACE_TYPE_DEFINITION) interfaces.push(definition)
    else objects.push(definition)
    read(types, definition.name.value, definition.directives)
    for (const field of definition.fields ?? []) read(fields, `${definition.name.value}.${field.name.value}`, field.directives)
  }
  if (fields.size > 0) for (const each of interfaces) addStrictest(fields, each, objects)
  return { fields, types, tags }
}

/** Gives the fields of an interface the strictest hints of their implementations: an answer may hold any of them. */
function addStrictest(
  fields: Map<string, CacheHint>,
  { name, fields: own = [] }: InterfaceTypeDefinitionNode,
  objects: readonly ObjectTypeDefinitionNode[],
): void {
  const implementing = objects.filter(({ interfaces }) => interfaces?.some(each => each.name.value === name.value))
  for (const field of own) {
    const hints = implementing.flatMap(object => fields.get(`${object.name.value}.${field.name.value}`) ?? [])
    if (hints.length === 0) continue
    const coordinate = `${name.value}.${field.name.value}`
    const written = fields.get(coordinate)
    const all = written ? [written, ...hints] : hints
    const ages = all.flatMap(({ maxAge }) => maxAge ?? [])
    fields.set(coordinate, {
      maxAge: ages.length > 0 ? Math.min(...ages) : undefined,
      isPrivate: all.some(({ isPrivate }) => isPrivate) || undefined,
      inherits: all.every(({ inherits }) => inherits),
      isPartial: hints.length < implementing.length || hints.some(({ maxAge }) => maxAge === undefined),
    })
  }
}

function hintOf(directives: readonly DirectiveNode[] | undefined): CacheHint | null {
  const [use] = usesOf(directives, 'cacheControl')
  if (!use) return null
  const { maxAge, scope, inheritMaxAge } = use
  const hint: CacheHint = {
    maxAge: typeof maxAge === 'number' ? Math.max(0, maxAge) : undefined,
    isPrivate: scope === 'PRIVATE' ? true : scope === 'PUBLIC' ? false : undefined,
    inherits: inheritMaxAge === true,
  }
  return hint.maxAge === undefined && hint.isPrivate === undefined && !hint.inherits ? null : hint
}

/** Composition writes `@cacheTag` as `@join__directive`, with the subgraphs that use it. */
const tagsOf = (directives: readonly DirectiveNode[] | undefined, subgraphs: ReadonlyMap<string, string>): CacheTag[] =>
  usesOf(directives, 'join__directive').flatMap(({ name, graphs, args }) => {
    const format = (args as Readonly<Record<string, unknown>> | undefined)?.format
    if (typeof name !== 'string' || !/(?:^|__)cacheTag$/.test(name) || typeof format !== 'string') return []
    return [{ subgraphs: (Array.isArray(graphs) ? graphs : []).flatMap(graph => subgraphs.get(String(graph)) ?? []), format }]
  })

/** The arguments of every use of a directive. */
const usesOf = (directives: readonly DirectiveNode[] | undefined, name: string): Record<string, unknown>[] =>
  (directives ?? [])
    .filter(directive => directive.name.value === name)
    .map(({ arguments: given = [] }) => Object.fromEntries(given.map(argument => [argument.name.value, valueFromASTUntyped(argument.value)])))
