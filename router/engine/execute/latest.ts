import { type DocumentNode, type ExecutionResult, Kind, print, stripIgnoredCharacters } from 'graphql'
import type { Fetch } from '../engine.ts'

/** No private name and no name of a client begins so. */
const key = '_latest'

/** The fetch of a subscription that also asks what each event is about. @param field of the subscription's type, a leaf */
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

/** What an event is about; null when it does not say. */
export function latestOf({ data }: ExecutionResult): string | null {
  for (const root of Object.values(data ?? {})) {
    const about = (root as Record<string, unknown> | null)?.[key]
    if (about !== undefined && about !== null) return String(about)
  }
  return null
}
