import { type DocumentNode, type FieldNode, Kind, print, type SelectionSetNode, stripIgnoredCharacters } from 'graphql'
import { isData } from '../../data/merge.ts'

/** Keys of an object in the answer to a shown fetch, with those of the engine, and what is below them. */
export interface ShownKeys extends ReadonlyMap<string, { readonly key: string; readonly below: ShownKeys | null }> {}

/** A fetch in the client's response keys. */
export interface ShownFetch {
  readonly query: string
  readonly document: DocumentNode
  /** How its answer becomes one of the engine's own fetch; null where both are the same. */
  readonly keys: ShownKeys | null
}

/**
 * Writes a fetch with the client's response keys in place of the engine's private ones. Where two fields of one object
 * have the same key for the client, as fields of different types may, the second keeps its private one.
 */
export function showFetch(document: DocumentNode, clientKeys: ReadonlyMap<string, string>): ShownFetch {
  if (clientKeys.size === 0) return { query: stripIgnoredCharacters(print(document)), document, keys: null }
  let keys: ShownKeys | null = null
  const shown: DocumentNode = {
    ...document,
    definitions: document.definitions.map(definition => {
      if (definition.kind !== Kind.OPERATION_DEFINITION) return definition
      const level = readLevel([definition.selectionSet], clientKeys)
      keys = level.keys
      return { ...definition, selectionSet: level.rewrite(definition.selectionSet) }
    }),
  }
  return { query: stripIgnoredCharacters(print(shown)), document: shown, keys }
}

interface Level {
  readonly keys: ShownKeys | null
  rewrite(set: SelectionSetNode): SelectionSetNode
}

/** Reads the selections of one object, which may stand at several places. */
function readLevel(sets: readonly SelectionSetNode[], clientKeys: ReadonlyMap<string, string>): Level {
  const fields = new Map<string, FieldNode[]>()
  for (const field of sets.flatMap(fieldsOf)) {
    const key = keyOf(field)
    fields.set(key, [...(fields.get(key) ?? []), field])
  }
  const taken = new Set([...fields.keys()].filter(key => !clientKeys.has(key)))
  const shownAs = new Map<string, string>()
  const below = new Map<string, Level>()
  const keys = new Map<string, { readonly key: string; readonly below: ShownKeys | null }>()
  for (const [key, nodes] of fields) {
    const wanted = clientKeys.get(key) ?? key
    const shown = key === wanted || taken.has(wanted) ? key : wanted
    taken.add(shown)
    shownAs.set(key, shown)
    const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const level = inner.length > 0 ? readLevel(inner, clientKeys) : null
    if (level) below.set(key, level)
    if (shown !== key || level?.keys) keys.set(shown, { key, below: level?.keys ?? null })
  }
  const rewrite = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.map(selection => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return { ...selection, selectionSet: rewrite(selection.selectionSet) }
      if (selection.kind !== Kind.FIELD) return selection
      const { alias: _alias, ...field } = selection
      const shown = shownAs.get(keyOf(selection))!
      const level = below.get(keyOf(selection))
      return {
        ...field,
        ...(shown !== field.name.value && { alias: { kind: Kind.NAME, value: shown } }),
        ...(level && { selectionSet: level.rewrite(selection.selectionSet!) }),
      }
    }),
  })
  return { keys: keys.size > 0 ? keys : null, rewrite }
}

const keyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value

/** The fields of one object, those in fragments included; fetches have no named fragments. */
const fieldsOf = (set: SelectionSetNode): FieldNode[] =>
  set.selections.flatMap(selection => {
    if (selection.kind === Kind.FIELD) return [selection]
    return selection.kind === Kind.INLINE_FRAGMENT ? fieldsOf(selection.selectionSet) : []
  })

/**
 * Returns the data of a shown fetch, under the engine's keys.
 * @param owner of the data: what is `shared` is copied whole; of what is `fresh`, only objects with other keys are
 */
export function engineData(value: unknown, keys: ShownKeys | null, owner: 'fresh' | 'shared'): unknown {
  if (keys === null && owner === 'fresh') return value
  if (Array.isArray(value)) return value.map(element => engineData(element, keys, owner))
  if (!isData(value)) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const [name, inner] of Object.entries(value)) {
    const known = keys?.get(name)
    copy[known?.key ?? name] = engineData(inner, known?.below ?? null, owner)
  }
  return copy
}

/** Returns the path of an error under the engine's keys. */
export function enginePath(path: readonly (string | number)[], keys: ShownKeys | null): (string | number)[] {
  let at = keys
  return path.map(segment => {
    if (typeof segment === 'number') return segment
    const known = at?.get(segment)
    at = known?.below ?? null
    return known?.key ?? segment
  })
}
