import { type DirectiveNode, type DocumentNode, Kind, valueFromASTUntyped } from 'graphql'

/** Among whom what a field says is the same. */
export interface Sharing {
  readonly by: 'ORGANIZATION' | 'EVERYONE'
  /** Only among callers with the same scopes. */
  readonly sameScopes: boolean
  /** Of a subscription: the field of its type that names what an event is about; null where newcomers are told no past. */
  readonly latestBy: string | null
}

/** The promises of a supergraph, by `Type.field`: a field that is not here may say something else to everybody. */
export type SharingTable = ReadonlyMap<string, Sharing>

/**
 * Reads `@shared`. On a type it stands for the fields that every subgraph knows which knows the type: what another subgraph
 * adds to it makes its promise itself.
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
