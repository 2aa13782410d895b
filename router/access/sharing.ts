import { type DirectiveNode, type DocumentNode, Kind, valueFromASTUntyped } from 'graphql'

/** Which callers receive the same value of a field. */
export interface Sharing {
  readonly by: 'ORGANIZATION' | 'EVERYONE'
  /** Whether only callers with the same scopes do. */
  readonly sameScopes: boolean
  /**
   * For a subscription: the field of its type that names the subject of an event; null where new subscribers receive no
   * earlier events.
   */
  readonly latestBy: string | null
}

/** The sharing promises of a supergraph, by `Type.field`: the value of any other field may differ for each caller. */
export type SharingTable = ReadonlyMap<string, Sharing>

/**
 * Reads `@shared`. On a type it covers the fields that every subgraph with this type has; fields that a single subgraph
 * adds need their own `@shared`.
 */
export function readSharing(document: DocumentNode): SharingTable {
  const table = new Map<string, Sharing>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue
    const ofType = sharingIn(definition.directives)
    for (const field of definition.fields ?? []) {
      const isOfOne = field.directives?.some(({ name }) => name.value === 'join__field')
      const sharing = sharingIn(field.directives) ?? (isOfOne ? null : ofType)
      if (sharing) table.set(`${definition.name.value}.${field.name.value}`, sharing)
    }
  }
  return table
}

function sharingIn(directives: readonly DirectiveNode[] | undefined): Sharing | null {
  const directive = directives?.find(({ name }) => name.value === 'shared')
  if (!directive) return null
  const given = Object.fromEntries((directive.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value)]))
  return {
    by: given.by === 'EVERYONE' ? 'EVERYONE' : 'ORGANIZATION',
    sameScopes: given.sameScopes === true,
    latestBy: (given.latestBy as string | undefined) ?? null,
  }
}
