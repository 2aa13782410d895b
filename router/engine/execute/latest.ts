import { type DocumentNode, type ExecutionResult, Kind, print, stripIgnoredCharacters } from 'graphql'
import type { Fetch } from '../engine.ts'

/** Key of the added field; no private name and no client's name begins with an underscore and this word. */
const key = '_latest'

/**
 * Adds to a subscription's fetch the field that identifies the subject of each event. @param field leaf field of the
 * subscription's type
 */
export function withLatest(fetch: Fetch, field: string): Fetch {
  const definitions = fetch.document.definitions.map(definition => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition
    const selections = definition.selectionSet.selections.map(selection =>
      selection.kind === Kind.FIELD && selection.selectionSet
        ? { ...selection, selectionSet: { ...selection.selectionSet, selections: [...selection.selectionSet.selections, asking(field)] } }
        : selection,
    )
    return { ...definition, selectionSet: { ...definition.selectionSet, selections } }
  })
  const document: DocumentNode = { ...fetch.document, definitions }
  return { ...fetch, document, text: stripIgnoredCharacters(print(document)) }
}

const asking = (field: string) => ({ kind: Kind.FIELD, alias: { kind: Kind.NAME, value: key }, name: { kind: Kind.NAME, value: field } }) as const

/** Subject of an event; null when the event names none. */
export function latestOf({ data }: ExecutionResult): string | null {
  for (const root of Object.values(data ?? {})) {
    const about = (root as Record<string, unknown> | null)?.[key]
    if (about !== undefined && about !== null) return String(about)
  }
  return null
}
