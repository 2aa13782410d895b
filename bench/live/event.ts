/** An event as the subgraph that owns it tells it: its entities by their keys. */
export const review = JSON.stringify({
  data: { reviewAdded: { id: '1', body: 'Fine.', author: { __typename: 'User', id: '2' }, product: { __typename: 'Product', upc: '3' } } },
})
