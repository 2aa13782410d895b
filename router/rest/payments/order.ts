import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreateOrderInput,
  RestCreateOrderDocument,
  RestOrderDocument,
  type RestOrderQuery,
  RestOrdersDocument,
  type RestOrdersQueryVariables,
} from './order.generated.ts'

type GraphOrder = NonNullable<RestOrderQuery['order']>

/** An order as routes answer it: the graph's names, its state in lower case, what it leads to by id. */
const toRest = ({ organization, createdBy, ...order }: GraphOrder) => ({
  ...order,
  status: fromEnum(order.status),
  organizationId: organization?.id ?? null,
  createdById: createdBy?.id ?? null,
})

/** One order with its version as entity tag, which `If-Match` takes back. */
const one = (order: GraphOrder | null | undefined): RowReply | null => (order ? { headers: { etag: tagOfVersion(order.version) }, body: toRest(order) } : null)

export const orderRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/orders',
    operation: RestOrdersDocument,
    query: ['status', 'merchantId', 'reference', 'first', 'after'],
    variables: ({ query }) => ({ ...query, status: toEnum(query.status), first: toInteger(query.first) }) as RestOrdersQueryVariables,
    reply: ({ orders }) => orders && { body: listBody('orders', orders, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/orders',
    operation: RestCreateOrderDocument,
    body: ['currency', 'lines', 'merchantId', 'description', 'reference'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as CreateOrderInput }),
    reply: ({ createOrder }) => {
      const made = one(createOrder)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/payments/api/orders/${createOrder!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/orders/:id',
    operation: RestOrderDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ order }) => one(order),
  }),
]
