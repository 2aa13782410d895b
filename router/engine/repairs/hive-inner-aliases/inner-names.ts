import type { EntityBatchAlias, FetchRewrite, FlattenNodePathSegment, InlineFragmentRequiresNode, RequiresSelection } from '@graphql-hive/router-query-planner'
import { type DocumentNode, type FieldNode, Kind, print, type SelectionSetNode, stripIgnoredCharacters, visit } from 'graphql'
import { type ContextValue, isGivenByContext } from '../../graph/contexts.ts'
import type { Requirement } from '../../graph/subgraph-types.ts'
import type { Supergraph } from '../../supergraph.ts'

/** The parts of a fetch that contain keys of the data. */
export interface Keyed {
  readonly subgraph: string
  readonly document: DocumentNode
  readonly text: string
  /** Its `_entities` fields; empty for a fetch of root fields. */
  readonly groups: readonly EntityBatchAlias[]
  /** Rewrites of a fetch of root fields. */
  readonly rewrites: readonly FetchRewrite[]
  /** Values that its entities take from objects around them. */
  readonly contexts: readonly ContextValue[]
}

type Known = Pick<Supergraph, 'fieldNames' | 'subgraphTypes'>

/** Matches the planner's aliases for a field that one fetch selects with several sets of arguments. */
const inner = /^_internal_qp_alias_\d+$/

/**
 * Gives fields that are required with arguments a key for each set of arguments, wherever a plan selects a field with
 * more than one set. The planner restarts its alias numbers in every fetch, so that two fetches may use one key for two
 * fields of an object, and it sometimes confuses which set of arguments is required.
 * @param fetches in the order of the plan
 * @throws Error for fields that are selected together although a field that both require was fetched for only one of
 * them
 */
export function withInnerNames(fetches: readonly Keyed[], supergraph: Known): readonly Keyed[] {
  if (!areAmbiguous(fetches, supergraph)) return fetches
  if (fetches.some(({ contexts }) => contexts.length > 0)) throw new Error('The plan requires fields with arguments beside values from contexts')
  const rename = createRenaming(supergraph)
  return fetches.map(rename)
}

/**
 * Whether any field is selected or required with more than one set of arguments; fields of clients have private keys
 * and do not count.
 */
function areAmbiguous(fetches: readonly Keyed[], supergraph: Known): boolean {
  const meanings = new Map<string, string>()
  let ambiguous = false
  const note = (field: string, given: FieldNode['arguments']) => {
    const meaning = meaningOf(field, given)
    ambiguous ||= (meanings.get(field) ?? meaning) !== meaning
    meanings.set(field, meaning)
  }
  const noteRequired = (requirements: readonly Requirement[]): void => {
    for (const { name, given, fields } of requirements) {
      note(name, given)
      noteRequired(fields)
    }
  }
  for (const fetch of fetches) {
    visit(fetch.document, {
      Field(node) {
        if (!isOurs(node)) return
        ambiguous ||= node.alias !== undefined
        note(node.name.value, node.arguments)
      },
    })
    for (const { alias } of fetch.groups) for (const required of requirementsOf(fetch, alias, supergraph).values()) noteRequired(required)
  }
  return ambiguous
}

/** Returns the requirements of an `_entities` field's selections, by the type that they are selected on. */
function requirementsOf({ document, subgraph }: Keyed, alias: string, { subgraphTypes }: Known): Map<string, Requirement[]> {
  const byType = new Map<string, Requirement[]>()
  for (const [type, field] of fieldsOf(document, alias)) {
    const required = subgraphTypes.requiredFor(subgraph, `${type}.${field}`)
    if (required.length > 0) byType.set(type, [...(byType.get(type) ?? []), ...required])
  }
  return byType
}

function createRenaming(supergraph: Known): (fetch: Keyed) => Keyed {
  const { fieldNames } = supergraph
  const byMeaning = new Map<string, string>()
  /** Maps the planner's keys to the new keys, for each place of the data. */
  const byPlace = new Map<string, Map<string, string>>()

  const nameFor = (field: string, given: FieldNode['arguments'] = []): string => {
    if (given.length === 0) return field
    const meaning = meaningOf(field, given)
    let name = byMeaning.get(meaning)
    if (name === undefined) {
      name = `_r${byMeaning.size}`
      while (fieldNames.has(name)) name += '_'
      byMeaning.set(meaning, name)
    }
    return name
  }

  const renameDocument = (document: DocumentNode, places: ReadonlyMap<string, readonly string[]> | null): DocumentNode => {
    const fragments = new Map(document.definitions.flatMap(each => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each.selectionSet]] : [])))
    const note = (set: SelectionSetNode, at: readonly string[]): void => {
      for (const selection of set.selections) {
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value
          const name = isOurs(selection) ? nameFor(selection.name.value, selection.arguments) : key
          if (name !== key) for (const place of at) byPlace.set(place, (byPlace.get(place) ?? new Map()).set(key, name))
          if (selection.selectionSet) note(selection.selectionSet, places && at.length === 0 ? (places.get(key) ?? []) : at.map(place => `${place} ${name}`))
        } else {
          const inside = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection.selectionSet
          if (inside) note(inside, at)
        }
      }
    }
    for (const definition of document.definitions) if (definition.kind === Kind.OPERATION_DEFINITION) note(definition.selectionSet, places ? [] : [''])
    return visit(document, {
      Field(node): FieldNode | undefined {
        if (!isOurs(node)) return undefined
        const { alias: _alias, ...plain } = node
        const name = nameFor(node.name.value, node.arguments)
        return name === node.name.value ? plain : { ...plain, alias: { kind: Kind.NAME, value: name } }
      },
    })
  }

  const renamePath = (path: readonly FlattenNodePathSegment[]): { readonly path: FlattenNodePathSegment[]; readonly place: string } => {
    let place = ''
    const renamed = path.map(segment => {
      if (typeof segment === 'string' || !('Field' in segment)) return segment
      const name = byPlace.get(place)?.get(segment.Field) ?? segment.Field
      place += ` ${name}`
      return { Field: name }
    })
    return { path: renamed, place }
  }

  const renameRequired = (selection: RequiresSelection, requirements: readonly Requirement[], place: string): RequiresSelection => {
    if (selection.kind === 'InlineFragment') return renameFragment(selection, requirements, place)
    if (selection.kind !== 'Field' || (!inner.test(selection.name) && selection.alias !== undefined)) return selection
    const field = selection.alias ?? selection.name
    const required = requirements.filter(each => each.name === field)
    const meanings = new Set(required.map(({ given }) => meaningOf(field, given)))
    if (meanings.size > 1) throw new Error(`The planner asks fields together that require "${field}" with different arguments`)
    const [one] = required
    const planned = byPlace.get(place)?.get(selection.name) ?? selection.name
    const name = !one ? planned : one.given.length === 0 ? field : (byMeaning.get(meaningOf(field, one.given)) ?? planned)
    const below = required.flatMap(({ fields }) => fields)
    const selections = selection.selections?.map(each => renameRequired(each, below, `${place} ${name}`))
    return { ...selection, name, ...(name !== field && { alias: field }), ...(selections && { selections }) }
  }

  const renameFragment = (fragment: InlineFragmentRequiresNode, requirements: readonly Requirement[], place: string): InlineFragmentRequiresNode => ({
    ...fragment,
    selections: fragment.selections.map(each => renameRequired(each, requirements, place)),
  })

  const renameOutput = (rewrite: FetchRewrite, document: DocumentNode): FetchRewrite => {
    if (!('KeyRenamer' in rewrite)) return rewrite
    const names = new Map<string, string>()
    visit(document, {
      Field(node) {
        if (isOurs(node)) names.set((node.alias ?? node.name).value, nameFor(node.name.value, node.arguments))
      },
    })
    const { path, renameKeyTo } = rewrite.KeyRenamer
    return { KeyRenamer: { path: path.map(segment => ('Key' in segment ? { Key: names.get(segment.Key) ?? segment.Key } : segment)), renameKeyTo } }
  }

  return fetch => {
    const places = new Map<string, string[]>()
    const groups = fetch.groups.map(group => {
      const renamed = group.paths.map(renamePath)
      places.set(
        group.alias,
        renamed.map(({ place }) => place),
      )
      const requirements = requirementsOf(fetch, group.alias, supergraph)
      return {
        ...group,
        paths: renamed.map(({ path }) => path),
        requires: group.requires.map(each =>
          each.kind === 'InlineFragment' ? renameFragment(each, requirements.get(each.typeCondition) ?? [], renamed[0]!.place) : each,
        ),
        outputRewrites: group.outputRewrites?.map(each => renameOutput(each, fetch.document)) ?? [],
      }
    })
    const document = renameDocument(fetch.document, groups.length > 0 ? places : null)
    const rewrites = fetch.rewrites.map(each => renameOutput(each, fetch.document))
    return { ...fetch, document, text: stripIgnoredCharacters(print(document)), groups, rewrites }
  }
}

/** Whether the planner chose a key: fields that clients select with arguments have private keys. */
const isOurs = (field: FieldNode): boolean => {
  const { alias, name, arguments: given = [] } = field
  return alias ? inner.test(alias.value) : given.length > 0 && name.value !== '_entities' && !isGivenByContext(field)
}

const meaningOf = (field: string, given: FieldNode['arguments'] = []) => `${field}(${given.map(print).sort().join()})`

/** The fields that an `_entities` field of a document selects, as [type, field]. */
function fieldsOf(document: DocumentNode, alias: string): [string, string][] {
  const fragments = new Map(document.definitions.flatMap(each => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])))
  const read = (set: SelectionSetNode, type: string): [string, string][] =>
    set.selections.flatMap((selection): [string, string][] => {
      if (selection.kind === Kind.FIELD) return [[type, selection.name.value]]
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
      return fragment ? read(fragment.selectionSet, fragment.typeCondition?.name.value ?? type) : []
    })
  return document.definitions.flatMap(definition => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return []
    const entities = definition.selectionSet.selections.filter(each => each.kind === Kind.FIELD && (each.alias ?? each.name).value === alias)
    return entities.flatMap(each => (each.kind === Kind.FIELD && each.selectionSet ? read(each.selectionSet, '') : []))
  })
}
