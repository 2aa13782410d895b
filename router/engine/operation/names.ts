import type { FieldNode } from 'graphql'

/**
 * Under which key the data of a field is kept between subgraphs. The same field gets the same key wherever it stands, on an
 * interface or on what implements it: otherwise what is selected of it in two places would stand in two objects.
 */
export interface Names {
  /** @param parent name of the type on which the field is selected */
  keyOf(node: FieldNode, parent: string): string
}
