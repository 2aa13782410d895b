const money = '{ amountMinor currency }'
const fields = `{ id number status currency description reference merchantId version createdAt updatedAt
  lines { name sku quantity taxRate unitAmount ${money} discount ${money} tax ${money} total ${money} }
  subtotal ${money} discount ${money} tax ${money} total ${money} organization { id name } createdBy { id } }`

export const order = `query($id: ID!) { order(id: $id) ${fields} }`
export const createOrder = `mutation($input: CreateOrderInput!) { createOrder(input: $input) ${fields} }`
export const orders = `query($status: OrderStatus, $merchantId: ID, $reference: String, $first: Int, $after: String) {
  orders(status: $status, merchantId: $merchantId, reference: $reference, first: $first, after: $after) {
    nodes { id number } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } totalCount } }`
