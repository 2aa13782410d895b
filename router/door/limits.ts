import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql'

/** What one operation may ask for at most. Counted before validation, whose cost grows with the square of the fields. */
export const limits = {
  /** Lexical tokens of the document's text. */
  tokens: 5000,
  /** Fields within fields. The standard introspection query has 14. */
  depth: 20,
  /** Fields that carry an alias, fragments opened. */
  aliases: 100,
  /** Fields, fragments opened. */
  fields: 1000,
} as const

interface Size {
  readonly depth: number
  readonly aliases: number
  readonly fields: number
}

/**
 * Measures each operation of a document, in time linear in its text: a fragment is measured once, however often it is
 * spread.
 * @returns the first limit that is passed, as an error with code BAD_USER_INPUT and `{ limit, most }`
 */
export function passedLimit(document: DocumentNode): GraphQLError | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const each of document.definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
  const measured = new Map<string, Size>()

  const measure = (set: SelectionSetNode, level: number): Size => {
    let [depth, aliases, fields] = [0, 0, 0]
    for (const selection of set.selections) {
      let inner = none
      if (selection.kind === Kind.FRAGMENT_SPREAD) inner = measureFragment(selection.name.value, level)
      // A walk deeper than the limit has its answer.
      else if (selection.selectionSet && level <= limits.depth) inner = measure(selection.selectionSet, selection.kind === Kind.FIELD ? level + 1 : level)
      if (selection.kind === Kind.FIELD) {
        fields += 1
        if (selection.alias) aliases += 1
        depth = Math.max(depth, inner.depth + 1)
      } else depth = Math.max(depth, inner.depth)
      aliases += inner.aliases
      fields += inner.fields
    }
    return { depth, aliases, fields }
  }
  const measureFragment = (name: string, level: number): Size => {
    const known = measured.get(name)
    if (known) return known
    const definition = fragments.get(name)
    if (!definition) return none
    // A fragment that spreads itself counts nothing here: validation refuses it.
    measured.set(name, none)
    const size = measure(definition.selectionSet, level)
    measured.set(name, size)
    return size
  }

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const size = measure(definition.selectionSet, 1)
    if (size.depth > limits.depth) return tooMuch('depth', `The operation nests fields deeper than ${limits.depth} levels: ask for less at once.`)
    if (size.aliases > limits.aliases) return tooMuch('aliases', `The operation has more than ${limits.aliases} aliases: split it into several.`)
    if (size.fields > limits.fields)
      return tooMuch('fields', `The operation asks for more than ${limits.fields} fields, fragments opened: split it into several.`)
  }
  return undefined
}

/** The refusal of a document whose text is too long. */
export const tooManyTokens = (): GraphQLError =>
  tooMuch('tokens', `The document has more than ${limits.tokens} tokens: split it, and send values as variables instead of writing them out.`)

const tooMuch = (limit: keyof typeof limits, message: string) =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', limit, most: limits[limit] } })

const none: Size = { depth: 0, aliases: 0, fields: 0 }
