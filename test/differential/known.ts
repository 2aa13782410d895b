import { type DefinitionNode, type DocumentNode, type FieldNode, Kind, parse, print, type SelectionNode, type SelectionSetNode, visit } from 'graphql'
import { conditionVariables, foldConditions } from '../../router/engine/operation/operation.ts'
import type { Answer } from '../engine/supergraph-fixture.ts'
import { comparable, sentences } from './comparing.ts'

/** Cases in which the stock gateway (@apollo/gateway 2.14.4) is wrong, as they were found: the one list that excuses a difference. */
export const stockErrors = {
  'a variable named representations': 'It declares a variable of that name for entities and refuses operations that have one of their own.',
  'an alias that is the name of another field':
    'It keeps data under the aliases of clients, so that an alias over a key, a required field or __typename stands where the field is looked for: wrong data, null, or a document that the subgraph refuses.',
  'a condition within a condition':
    'It folds @skip and @include of nested and repeated fragments wrongly: fields are asked for that should not be, or are left out.',
  'an object of which every field is skipped': 'It answers null in place of the empty object.',
  'the order of keys': 'It merges what fetches bring in their order, and fragments in the order of its plan.',
  'a null that may not be, without an error': 'It moves the null up and tells nothing.',
  'the place of an error below a fragment': 'It counts entities among those of the fetch, not among all that stand in the list.',
  'an interface object narrowed to implementations':
    'It drops fields that are asked of one implementation only where the interface came from a subgraph that knows it as an object.',
  'mutations within fragments': 'It runs root fields of a mutation that stand in fragments in another order than they are written.',
  'what is read between mutations':
    'It sends neighbouring mutations of one subgraph in one request, and reads what other subgraphs say of their results only after the last of them.',
  'a required field with arguments':
    'The field stands under its plain name, so that what the client asked with other arguments gets the value of the requirement, or the other way round.',
} as const

export type StockError = keyof typeof stockErrors

/**
 * The one case in which our own engine answers otherwise than a single schema would: the planner finds no plan for a required field
 * on an entity that was reached through an entity of its type, loses a step of it, or asks fields together whose requirements
 * differ. The operation is refused whole and said so, never answered wrongly.
 */
export const refusedByPlanner = /cannot be found in selection set of type|Missing FetchStep|asks fields together that require/

/** An operation with its variables, in a form that two engines run. */
export interface Asked {
  readonly source: string
  readonly variables: Record<string, unknown>
}

type Run = (asked: Asked) => Promise<Answer>

/** Whether two answers tell the same: text, order of keys, errors by place, sentences. */
export function same(one: Answer, other: Answer): boolean {
  const [left, right] = [comparable(one), comparable(other, one)]
  return left.text === right.text && left.errors.join() === right.errors.join() && sentences(one).join() === sentences(other).join()
}

/**
 * Says why the stock gateway differs: the first rewriting of the operation, each to the same meaning, that makes it right names
 * the cause; what no rewriting cures is judged by the difference. Null when nothing on the list is the reason.
 */
export async function causeOf(
  asked: Asked,
  first: readonly [expected: Answer, actual: Answer],
  whole: Run,
  stock: Run,
  supergraph: string,
  isSame: (expected: Answer, actual: Answer) => boolean = same,
): Promise<StockError | null> {
  let rewritten = asked
  let [expected, actual] = first
  for (const [cause, rewrite] of rewritings) {
    const seen = visibleCause(expected, actual)
    if (seen) return seen
    const { source } = rewritten
    rewritten = rewrite(rewritten)
    if (rewritten.source === source) continue
    expected = await whole(rewritten)
    actual = await stock(rewritten)
    if (isSame(expected, actual)) return cause
  }
  const seen = visibleCause(expected, actual)
  if (seen) return seen
  if (supergraph.includes('isInterfaceObject: true') && isLess(actual.data, expected.data)) return 'an interface object narrowed to implementations'
  const requiring = keysOf(rewritten.source, new Set(['postage', 'tax', 'fits', 'weight', 'cost']))
  if (/\b(?:postage|tax|fits)\b/.test(rewritten.source) && isSameWithout(requiring, expected.data, actual.data)) return 'a required field with arguments'
  if (rootFieldsOf(rewritten.source) > 1 && rewritten.source.startsWith('mutation') && formOf(expected.data) === formOf(actual.data))
    return 'what is read between mutations'
  return null
}

function visibleCause(expected: Answer, actual: Answer): StockError | null {
  const [left, right] = [comparable(expected), comparable(actual, expected)]
  if (left.text !== right.text) {
    if (canonical(expected.data) === canonical(actual.data)) return 'the order of keys'
    if (canonical(emptied(expected.data)) === canonical(emptied(actual.data))) return 'an object of which every field is skipped'
    return null
  }
  const missing = left.errors.filter(place => !right.errors.includes(place))
  const added = right.errors.filter(place => !left.errors.includes(place))
  if (added.length === 0 && missing.length > 0) {
    const said = sentences(expected)
    if (missing.every(place => !said.some(sentence => sentence.startsWith(`${place}: `)))) return 'a null that may not be, without an error'
  }
  const said = saidIn(expected)
  if (missing.length + added.length > 0 && [...saidIn(actual)].every(message => said.has(message))) return 'the place of an error below a fragment'
  return null
}

/** The response keys under which these fields are asked for. */
function keysOf(source: string, fields: ReadonlySet<string>): ReadonlySet<string> {
  const keys = new Set<string>()
  visit(parse(source), { Field: ({ name, alias }) => void (fields.has(name.value) && keys.add((alias ?? name).value)) })
  return keys
}

/** Whether data is the same where these keys are left out, and what became null for their sake. */
function isSameWithout(keys: ReadonlySet<string>, data: unknown, other: unknown): boolean {
  if (keys.size === 0) return false
  const [left, right] = [without(keys, data), without(keys, other)]
  return isLess(left, right) || isLess(right, left)
}

function without(keys: ReadonlySet<string>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => without(keys, item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (keys.has(key) ? [] : [[key, without(keys, inner)]])))
}

const rootFieldsOf = (source: string): number =>
  parse(source).definitions.reduce((count, each) => count + (each.kind === Kind.OPERATION_DEFINITION ? each.selectionSet.selections.length : 0), 0)

/** Data without its values: what was read at another moment differs in those alone. */
function formOf(value: unknown): string {
  if (Array.isArray(value)) return '[]'
  if (value === null || typeof value !== 'object') return '.'
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${formOf(inner)}`)
    .sort()
    .join()}}`
}

/** What errors say, wherever they stand; failures without a sentence are all the same. */
const saidIn = ({ errors = [] }: Answer): Set<string> =>
  new Set(errors.map(({ message, extensions }) => (extensions?.code === undefined || extensions.code === 'INTERNAL_SERVER_ERROR' ? '' : message)))

/** Whether data differs from other data by what it lacks alone, and by nulls. */
function isLess(data: unknown, other: unknown): boolean {
  if (data === null || other === null) return true
  if (typeof data !== 'object' || typeof other !== 'object') return data === other
  if (Array.isArray(data)) return Array.isArray(other) && data.length === other.length && data.every((value, index) => isLess(value, other[index]))
  return Object.entries(data).every(([key, value]) => Object.hasOwn(other, key) && isLess(value, (other as Record<string, unknown>)[key]))
}

const rewritings: readonly (readonly [StockError, (asked: Asked) => Asked])[] = [
  ['a variable named representations', renameVariables],
  ['an alias that is the name of another field', neutralAliases],
  ['a condition within a condition', fold],
  ['mutations within fragments', openRoot],
]

function renameVariables({ source, variables }: Asked): Asked {
  const names = new Map<string, string>()
  const nameOf = (name: string) => {
    const known = names.get(name) ?? `w${names.size}`
    names.set(name, known)
    return known
  }
  const document = visit(parse(source), { Variable: node => ({ ...node, name: { ...node.name, value: nameOf(node.name.value) } }) })
  return { source: print(document), variables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [nameOf(name), value])) }
}

function neutralAliases({ source, variables }: Asked): Asked {
  const names = new Map<string, string>()
  const document = visit(parse(source), {
    Field(node: FieldNode): FieldNode {
      const { alias: _alias, ...plain } = node
      if (!node.alias || node.alias.value === node.name.value) return plain
      const meaning = `${node.alias.value} ${node.name.value} ${(node.arguments ?? []).map(print).join()}`
      const value = names.get(meaning) ?? `n${names.size}`
      names.set(meaning, value)
      return { ...plain, alias: { kind: Kind.NAME, value } }
    },
  })
  return { source: print(document), variables }
}

function fold({ source, variables }: Asked): Asked {
  const document = parse(source)
  if (!conditionVariables(document)) return { source, variables }
  const defaults = new Map<string, boolean>()
  visit(document, {
    VariableDefinition({ variable, defaultValue }) {
      if (defaultValue?.kind === Kind.BOOLEAN) defaults.set(variable.name.value, defaultValue.value)
    },
  })
  const folded = foldConditions(document, name => (Object.hasOwn(variables, name) ? variables[name] === true : (defaults.get(name) ?? false)))
  return { source: print(tidied(folded)), variables }
}

/** Root fields out of their fragments, in the order in which they are run. */
function openRoot({ source, variables }: Asked): Asked {
  const document = parse(source)
  const fragments = new Map(
    document.definitions.flatMap(each => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each.selectionSet] as const] : [])),
  )
  const open = (set: SelectionSetNode): SelectionNode[] =>
    set.selections.flatMap(selection => {
      if (selection.kind === Kind.FIELD) return [selection]
      const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection.selectionSet
      return inner ? open(inner) : []
    })
  const definitions = document.definitions.map(definition =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? { ...definition, selectionSet: { ...definition.selectionSet, selections: open(definition.selectionSet) } }
      : definition,
  )
  return { source: print(tidied({ ...document, definitions })), variables }
}

/** A folded document as valid text: nothing empty, nothing unused. */
function tidied(document: DocumentNode): DocumentNode {
  const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }
  const filled: DocumentNode = visit(document, { SelectionSet: node => (node.selections.length === 0 ? { ...node, selections: [typename] } : undefined) })
  const used = new Set<string>()
  const spreads = new Map<string, string[]>()
  const variables = new Map<string, string[]>()
  for (const definition of filled.definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION && definition.kind !== Kind.OPERATION_DEFINITION) continue
    const name = definition.kind === Kind.FRAGMENT_DEFINITION ? definition.name.value : ''
    const [spread, asked]: [string[], string[]] = [[], []]
    visit(definition.selectionSet, { FragmentSpread: node => void spread.push(node.name.value), Variable: node => void asked.push(node.name.value) })
    spreads.set(name, spread)
    variables.set(name, asked)
  }
  const use = (name: string): void => {
    if (used.has(name)) return
    used.add(name)
    for (const inner of spreads.get(name) ?? []) use(inner)
  }
  use('')
  const wanted = new Set([...used].flatMap(name => variables.get(name) ?? []))
  const definitions = filled.definitions.flatMap((definition): readonly DefinitionNode[] => {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return used.has(definition.name.value) ? [definition] : []
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [definition]
    return [{ ...definition, variableDefinitions: definition.variableDefinitions?.filter(each => wanted.has(each.variable.name.value)) ?? [] }]
  })
  return { ...filled, definitions }
}

/** As text, keys sorted. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'absent'
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`)
  return `{${entries.sort().join()}}`
}

/** The same with null for every object without a field. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  return entries.length === 0 ? null : Object.fromEntries(entries.map(([key, inner]) => [key, emptied(inner)]))
}
