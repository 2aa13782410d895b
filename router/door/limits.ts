import { BREAK, type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode, visit } from 'graphql'

/**
 * Limits of one document. They are checked before validation, which compares every two selections of one response key:
 * its cost grows with the square of `repeats` and of `fragments`.
 */
export const limits = {
  /** Maximum characters of the document's text: large values belong into variables. */
  characters: 100_000,
  /** Maximum lexical tokens of the document's text. */
  tokens: 5000,
  /** Maximum depth of nested fields. The standard introspection query has 14. */
  depth: 20,
  /** Maximum aliased fields of one operation, fragments expanded. */
  aliases: 100,
  /** Maximum depth of lists and objects in a literal value. */
  values: 20,
  /** Maximum depth of lists and objects in the values of variables, which need no parser of ours. */
  variables: 100,
  /**
   * Maximum members of one object in the variables, and of the variables object itself: no input type has nearly as
   * many.
   */
  members: 1000,
  /** Maximum values in all variables together, lists and objects included. */
  variableValues: 20_000,
  /** Maximum fields and spreads of all operations together, fragments expanded. */
  fields: 1000,
  /** Maximum fragments that the document defines. */
  fragments: 50,
  /** Maximum selections of one response key at one place of the answer, fragments expanded. */
  repeats: 50,
} as const

interface Size {
  readonly depth: number
  readonly aliases: number
  readonly fields: number
}

/**
 * Checks the operations and fragments of a document, in time linear in its text and in `limits.fields`: sizes are
 * computed without expanding a fragment twice, and only small documents are expanded to look for repeats.
 * @returns the first exceeded limit, as an error with code BAD_USER_INPUT and `{ limit, most }`
 */
export function passedLimit(document: DocumentNode): GraphQLError | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>()
  let defined = 0
  for (const each of document.definitions) {
    if (each.kind !== Kind.FRAGMENT_DEFINITION) continue
    fragments.set(each.name.value, each)
    defined += 1
  }
  if (defined > limits.fragments) return tooMuch('fragments', `The document defines more than ${limits.fragments} fragments: split it into several.`)

  if (hasDeepValue(document))
    return tooMuch('values', `A value nests lists and objects deeper than ${limits.values} levels: send less of it at once, or as a variable.`)

  const measure = sizing(fragments)
  let fields = 0
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    const size = measure(definition.selectionSet)
    if (size.depth > limits.depth) return tooMuch('depth', `The operation nests fields deeper than ${limits.depth} levels: ask for less at once.`)
    if (size.aliases > limits.aliases) return tooMuch('aliases', `The operation has more than ${limits.aliases} aliases: split it into several.`)
    // A fragment counts where it is spread; its own size is limited separately.
    if (definition.kind === Kind.OPERATION_DEFINITION) fields += size.fields
    const passed = Math.max(fields, size.fields) > limits.fields ? 'fields' : passedByRepeating(definition.selectionSet, fragments)
    if (passed === 'fields') return tooMuch(passed, `The document asks for more than ${limits.fields} fields, fragments opened: split it into several.`)
    if (passed) return tooMuch(passed, `The operation selects a field more than ${limits.repeats} times at the same place: select it once.`)
  }
  return undefined
}

/** Measures the selection sets of one document; each fragment is measured once, however often it is spread. */
function sizing(fragments: ReadonlyMap<string, FragmentDefinitionNode>): (set: SelectionSetNode) => Size {
  const measured = new Map<string, Size>()
  const measure = (set: SelectionSetNode, level: number): Size => {
    let [depth, aliases, fields] = [0, 0, 0]
    for (const selection of set.selections) {
      let inner = none
      if (selection.kind === Kind.FRAGMENT_SPREAD) inner = measureFragment(selection.name.value, level)
      // A walk that exceeds the limit is refused.
      else if (selection.selectionSet && level <= limits.depth) inner = measure(selection.selectionSet, selection.kind === Kind.FIELD ? level + 1 : level)
      if (selection.kind === Kind.FIELD) {
        if (selection.alias) aliases += 1
        depth = Math.max(depth, inner.depth + 1)
      } else depth = Math.max(depth, inner.depth)
      aliases += inner.aliases
      fields += inner.fields + 1
    }
    return { depth, aliases, fields }
  }
  const measureFragment = (name: string, level: number): Size => {
    const known = measured.get(name)
    if (known) return known
    const definition = fragments.get(name)
    if (!definition) return none
    // A fragment that spreads itself counts nothing here, because validation refuses it.
    measured.set(name, none)
    const size = measure(definition.selectionSet, level)
    measured.set(name, size)
    return size
  }
  return set => measure(set, 1)
}

/** A selection set, and the fragments that contain it. */
interface Place {
  readonly set: SelectionSetNode
  readonly within: readonly string[]
}

/**
 * Finds excessive repetition: by response key at one place of the answer, or in total. The total only matters for
 * fragments that spread each other in a cycle.
 */
function passedByRepeating(root: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): 'repeats' | 'fields' | undefined {
  let visits = 0
  const visit = (places: readonly Place[]): 'repeats' | 'fields' | undefined => {
    const counts = new Map<string, number>()
    const below = new Map<string, Place[]>()
    let most = 0
    const open = ({ set, within }: Place, opened: Set<string>): void => {
      for (const selection of set.selections) {
        visits += 1
        if (visits > limits.fields || most > limits.repeats) return
        if (selection.kind === Kind.INLINE_FRAGMENT) open({ set: selection.selectionSet, within }, opened)
        else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const name = selection.name.value
          const inner = fragments.get(name)?.selectionSet
          if (!inner || opened.has(name) || within.includes(name)) continue
          opened.add(name)
          open({ set: inner, within: [...within, name] }, opened)
        } else {
          const key = (selection.alias ?? selection.name).value
          const count = (counts.get(key) ?? 0) + 1
          counts.set(key, count)
          most = Math.max(most, count)
          const inner = selection.selectionSet && { set: selection.selectionSet, within }
          if (inner && !below.get(key)?.push(inner)) below.set(key, [inner])
        }
      }
    }
    for (const place of places) open(place, new Set())
    if (most > limits.repeats) return 'repeats'
    if (visits > limits.fields) return 'fields'
    for (const inner of below.values()) {
      const passed = visit(inner)
      if (passed) return passed
    }
    return undefined
  }
  return visit([{ set: root, within: [] }])
}

/** Whether any literal value in the document nests deeper than allowed. */
function hasDeepValue(document: DocumentNode): boolean {
  let level = 0
  let isDeep = false
  const inner = {
    enter() {
      level += 1
      if (level <= limits.values) return undefined
      isDeep = true
      return BREAK
    },
    leave() {
      level -= 1
    },
  }
  visit(document, { ListValue: inner, ObjectValue: inner })
  return isDeep
}

/**
 * Returns the error for variables, or a request body, that nest too deep or hold too many values; undefined within the
 * limits. The search ends at the first violation. The outermost object counts as no level.
 * @param what how the message begins
 */
export function refusedValues(given: unknown, what = 'The variables'): GraphQLError | undefined {
  let values = 0
  const look = (value: unknown, level: number): 'variables' | 'members' | 'variableValues' | undefined => {
    values += 1
    if (values > limits.variableValues) return 'variableValues'
    if (typeof value !== 'object' || value === null) return undefined
    if (level > limits.variables) return 'variables'
    if (Array.isArray(value)) {
      for (const inner of value) {
        const passed = look(inner, level + 1)
        if (passed) return passed
      }
      return undefined
    }
    let members = 0
    for (const name in value) {
      members += 1
      if (members > limits.members) return 'members'
      const passed = look((value as Record<string, unknown>)[name], level + 1)
      if (passed) return passed
    }
    return undefined
  }
  const passed = look(given, 0)
  if (passed === 'variables') return tooMuch(passed, `${what} nest lists and objects deeper than ${limits.variables} levels: send less of it at once.`)
  if (passed === 'members') return tooMuch(passed, `${what} hold an object with more than ${limits.members} members: leave out what is not needed.`)
  if (passed) return tooMuch(passed, `${what} hold more than ${limits.variableValues} values: send less of it at once.`)
  return undefined
}

/** The refusal of a document whose text is too long. */
export const tooManyCharacters = (): GraphQLError =>
  tooMuch('characters', `The document has more than ${limits.characters} characters: split it, and send values as variables instead of writing them out.`)

/** The refusal of a document that consists of too many words and signs. */
export const tooManyTokens = (): GraphQLError =>
  tooMuch('tokens', `The document has more than ${limits.tokens} tokens: split it, and send values as variables instead of writing them out.`)

const tooMuch = (limit: keyof typeof limits, message: string) =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', limit, most: limits[limit] } })

const none: Size = { depth: 0, aliases: 0, fields: 0 }
