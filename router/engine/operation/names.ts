import type { FieldNode } from 'graphql'

/**
 * Keys of fields in the data between subgraphs. A field has the same key everywhere, on an interface and on its
 * implementations: otherwise selections of one field at two places would result in two objects.
 */
export interface Names {
  /** @param parent name of the type on which the field is selected */
  keyOf(node: FieldNode, parent: string): string
  /** The clients' response keys of the fields that have other keys here, by these keys. */
  readonly clientKeys: ReadonlyMap<string, string>
}
