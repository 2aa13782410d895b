import { createHash } from 'node:crypto'
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  stripIgnoredCharacters,
  valueFromASTUntyped,
  visit,
} from 'graphql'
import type { Requirement as AccessRule } from '../../../access/rules.ts'
import type { Data } from '../../data/merge.ts'
import type { Fetch } from '../../engine.ts'
import type { CacheTag } from '../../graph/cache-hints.ts'
import { type Keeping, keepingOfEntity, keepingOfField } from '../../graph/keeping.ts'
import type { Supergraph } from '../../supergraph.ts'
import { canonical, type Guard, guardOf } from './key.ts'

/** What is the same for every answer to a root field, or to entities of one type, of a fetch. */
export interface Part {
  readonly type: string
  /** Name of the root field; null for an entity. */
  readonly field: string | null
  readonly keeping: Keeping
  readonly guard: Guard | null
  /** Hash of supergraph, subgraph, field or type, and selection. */
  readonly hash: string
  /** Variables of the fetch that its selection uses, in the order in which it uses them. */
  readonly variables: readonly string[]
  /** Names of the types whose objects its answers may hold. */
  readonly types: readonly string[]
  readonly tags: readonly string[]
}

/** A root field of a fetch. */
export interface RootPart extends Part {
  /** Key of its value in the answer. */
  readonly key: string
  /** Returns its arguments, with variables put in and defaults applied. */
  args(variables: Data): Data
}

/** One `_entities` field of a fetch. */
export interface EntityGroup {
  /** Key of its value in the answer. */
  readonly key: string
  /** Variable with the representations. */
  readonly representations: string
  /** Returns the part of the entities of a type; null for one that is not known. */
  of(type: string): Part | null
}

/** What one fetch asks for: root fields, or entities. */
export type FetchParts =
  | { readonly roots: readonly RootPart[]; readonly groups?: undefined }
  | { readonly groups: readonly EntityGroup[]; readonly roots?: undefined }

/** Maximum number of root fields of a fetch, and of types of entities of a group, that are kept each on its own. */
const most = { roots: 32, types: 200 }

/** Reads what the fetches of one graph ask for. @param defaultAge seconds */
export function createPartReader(supergraph: Supergraph, defaultAge: number): (fetch: Fetch) => FetchParts | null {
  const known = new WeakMap<Fetch, FetchParts | null>()
  const graph = createHash('sha256').update(supergraph.sdl).digest('base64url')
  return fetch => {
    let parts = known.get(fetch)
    if (parts === undefined) {
      parts = readParts(fetch, graph, supergraph, defaultAge)
      known.set(fetch, parts)
    }
    return parts
  }
}

/** @returns null for a fetch that is not divided, such as one with fragments of its own */
function readParts(fetch: Fetch, graph: string, supergraph: Supergraph, defaultAge: number): FetchParts | null {
  const [definition] = fetch.document.definitions
  if (fetch.kind !== 'query' || fetch.document.definitions.length !== 1 || definition?.kind !== Kind.OPERATION_DEFINITION) return null
  const { selections } = definition.selectionSet
  const fields = selections.flatMap(selection => (selection.kind === Kind.FIELD && selection.name.value !== '__typename' ? [selection] : []))
  if (fields.length !== selections.length || fields.length > most.roots) return null
  if (fields.every(({ name }) => name.value === '_entities'))
    return { groups: fields.flatMap(field => groupOf(field, fetch.subgraph, graph, supergraph, defaultAge) ?? []) }
  if (fields.some(({ name }) => name.value.startsWith('_'))) return null
  return { roots: fields.map(field => rootPartOf(field, fetch.subgraph, graph, supergraph, defaultAge)) }
}

function rootPartOf(field: FieldNode, subgraph: string, graph: string, supergraph: Supergraph, defaultAge: number): RootPart {
  const type = supergraph.access.roots.query
  const name = field.name.value
  const coordinate = `${type}.${name}`
  const below = field.selectionSet && { set: field.selectionSet, type: supergraph.fieldTypes.get(coordinate) ?? '', fragments: noFragments }
  const { text, variables } = textOf(field.selectionSet)
  const found = contentsOf(supergraph, coordinate, below ?? null)
  return {
    key: (field.alias ?? field.name).value,
    type,
    field: name,
    keeping: keepingOfField(supergraph, coordinate, below ?? null, true, defaultAge),
    guard: guardOf(found.rules),
    hash: createHash('sha256')
      .update(JSON.stringify([graph, subgraph, coordinate, text]))
      .digest('base64url'),
    variables,
    types: [type, ...found.types],
    tags: formatsOf(supergraph.hints.tags.get(coordinate), subgraph),
    args: argumentsOf(field.arguments ?? [], defaultsOf(supergraph, name)),
  }
}

function groupOf(field: FieldNode, subgraph: string, graph: string, supergraph: Supergraph, defaultAge: number): EntityGroup | null {
  const given = field.arguments?.find(({ name }) => name.value === 'representations')?.value
  if (given?.kind !== Kind.VARIABLE || !field.selectionSet) return null
  const { selections } = field.selectionSet
  const known = new Map<string, Part | null>()
  const read = (type: string): Part | null => {
    const set = selectionsFor(selections, type, supergraph)
    if (set.selections.length === 0) return null
    const { text, variables } = textOf(set)
    const selected = { set, type, fragments: noFragments }
    const found = contentsOf(supergraph, null, selected)
    for (const rule of supergraph.access.types.get(type) ?? []) found.rules.add(rule)
    return {
      type,
      field: null,
      keeping: keepingOfEntity(supergraph, selected, defaultAge),
      guard: guardOf(found.rules),
      hash: createHash('sha256')
        .update(JSON.stringify([graph, subgraph, type, 'entity', text]))
        .digest('base64url'),
      variables,
      types: [type, ...found.types],
      tags: formatsOf(supergraph.hints.tags.get(type), subgraph),
    }
  }
  return {
    key: (field.alias ?? field.name).value,
    representations: given.name.value,
    of(type) {
      let part = known.get(type)
      if (part === undefined && known.size < most.types) {
        part = read(type)
        known.set(type, part)
      }
      return part ?? null
    },
  }
}

/** Returns what is selected of entities of one type. */
const selectionsFor = (selections: readonly SelectionNode[], type: string, supergraph: Supergraph): SelectionSetNode => ({
  kind: Kind.SELECTION_SET,
  selections: selections.flatMap(selection => {
    if (selection.kind !== Kind.INLINE_FRAGMENT) return [selection]
    return supergraph.covers(selection.typeCondition?.name.value ?? type, type) ? selection.selectionSet.selections : []
  }),
})

/** Returns a selection as text in which its variables are numbered, and the variables. */
function textOf(set: SelectionSetNode | undefined): { readonly text: string; readonly variables: readonly string[] } {
  if (!set) return { text: '', variables: [] }
  const variables: string[] = []
  const numbered = visit(set, {
    Variable({ name: { value } }) {
      const known = variables.indexOf(value)
      const at = known === -1 ? variables.push(value) - 1 : known
      return { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: `_${at}` } }
    },
  })
  return { text: stripIgnoredCharacters(print(numbered)), variables }
}

/** Returns the access rules of what is selected, and the types whose objects it may hold. */
function contentsOf(supergraph: Supergraph, coordinate: string | null, selected: Selection | null) {
  const rules = new Set<AccessRule>()
  const types = new Set<string>()
  const { access, fieldTypes, schema } = supergraph
  const addType = (name: string) => {
    types.add(name)
    const abstract = access.abstract.has(name) ? schema.getType(name) : undefined
    if (abstract && 'getTypes' in abstract) for (const member of abstract.getTypes()) types.add(member.name)
    else if (abstract) for (const each of access.types.keys()) if (supergraph.covers(name, each)) types.add(each)
  }
  const addField = (type: string, name: string) => {
    const rule = access.fields.get(type)?.get(name)
    for (const each of [...(rule?.all ?? []), ...(rule?.members?.flat() ?? [])]) rules.add(each)
  }
  const walk = ({ set, type }: Selection): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) continue
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value ?? type
        if (condition !== type) {
          addType(condition)
          for (const each of access.types.get(condition) ?? []) rules.add(each)
        }
        walk({ set: selection.selectionSet, type: condition })
        continue
      }
      addField(type, selection.name.value)
      const below = fieldTypes.get(`${type}.${selection.name.value}`)
      if (!selection.selectionSet || below === undefined) continue
      addType(below)
      walk({ set: selection.selectionSet, type: below })
    }
  }
  const [type, name] = coordinate?.split('.') ?? []
  if (type !== undefined && name !== undefined) addField(type, name)
  if (selected && coordinate !== null) addType(selected.type)
  if (selected) walk(selected)
  return { rules, types }
}

interface Selection {
  readonly set: SelectionSetNode
  readonly type: string
}

/** Returns a function that puts variables into arguments and applies defaults; absent variables leave an argument out. */
function argumentsOf(nodes: readonly ArgumentNode[], defaults: Data): (variables: Data) => Data {
  const isConstant = !nodes.some(({ value }) => canHoldVariables(value.kind))
  const read = (variables: Data): Data => {
    const args: Data = { ...defaults }
    for (const { name, value } of nodes) {
      const read = valueFromASTUntyped(value, variables)
      if (read !== undefined) args[name.value] = read
    }
    return args
  }
  if (!isConstant) return read
  const constant = read({})
  return () => constant
}

const canHoldVariables = (kind: Kind): boolean => kind === Kind.VARIABLE || kind === Kind.LIST || kind === Kind.OBJECT

/** Returns the defaults of a root field's arguments. */
function defaultsOf({ schema }: Supergraph, field: string): Data {
  const defaults: Data = {}
  for (const { name, defaultValue } of schema.getQueryType()?.getFields()[field]?.args ?? []) if (defaultValue !== undefined) defaults[name] = defaultValue
  return defaults
}

const formatsOf = (tags: readonly CacheTag[] | undefined, subgraph: string): readonly string[] =>
  (tags ?? []).flatMap(({ subgraphs, format }) => (subgraphs.includes(subgraph) ? [format] : []))

const noFragments: ReadonlyMap<string, FragmentDefinitionNode> = new Map()

/** Returns a fetch of some of the root fields of a fetch. */
export function withRoots(fetch: Fetch, isKept: (at: number) => boolean): Fetch {
  const definition = fetch.document.definitions[0] as OperationDefinitionNode
  const selectionSet = { ...definition.selectionSet, selections: definition.selectionSet.selections.filter((_, at) => isKept(at)) }
  const used = new Set<string>()
  visit(selectionSet, { Variable: ({ name }) => void used.add(name.value) })
  const variableDefinitions = definition.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)) ?? []
  const document: DocumentNode = { ...fetch.document, definitions: [{ ...definition, selectionSet, variableDefinitions }] }
  return { ...fetch, document, text: stripIgnoredCharacters(print(document)) }
}

/** Returns the variables that a fetch defines, of those of the fetch that it is made of. */
export function variablesIn({ document }: Fetch, variables: Data): Data {
  const definition = document.definitions[0] as OperationDefinitionNode
  const own: Data = {}
  for (const { variable } of definition.variableDefinitions ?? [])
    if (Object.hasOwn(variables, variable.name.value)) own[variable.name.value] = variables[variable.name.value]
  return own
}

/** Returns the values of the variables that the selection of a part uses, as text. An absent value is not a null. */
export const valuesOf = ({ variables: names }: Part, variables: Data): string =>
  names.map(name => (Object.hasOwn(variables, name) ? canonical(variables[name]) : '')).join('\t')
