/** A page of the graph. */
interface Page<Node> {
  readonly nodes?: readonly (Node | null | undefined)[] | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
  readonly totalCount: number
}

/** A page as routes answer it: what is on it under its name, how it goes on, and how long the list is. */
export const listBody = <Node, Shown>(name: string, { nodes, pageInfo, totalCount }: Page<Node>, toRest: (node: Node) => Shown) => ({
  [name]: (nodes ?? []).flatMap(node => (node ? [toRest(node)] : [])),
  nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null,
  totalCount,
})
