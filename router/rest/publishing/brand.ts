import { toBoolean, toInteger } from '../enum-case.ts'
import { listBody } from '../list.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreateBrandInput,
  RestArchiveBrandDocument,
  RestBrandDocument,
  type RestBrandQuery,
  RestBrandsDocument,
  type RestBrandsQueryVariables,
  RestCreateBrandDocument,
  RestRestoreBrandDocument,
  RestUpdateBrandDocument,
  type UpdateBrandInput,
} from './brand.generated.ts'

type GraphBrand = NonNullable<RestBrandQuery['brand']>

/** One brand with its version as entity tag, which `If-Match` takes back. */
const one = (brand: GraphBrand | null | undefined): RowReply | null => (brand ? { headers: { etag: tagOfVersion(brand.version) }, body: brand } : null)

export const brandRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/brands',
    operation: RestBrandsDocument,
    query: ['archived', 'first', 'after'],
    variables: ({ query }) => ({ ...query, archived: toBoolean(query.archived), first: toInteger(query.first) }) as RestBrandsQueryVariables,
    reply: ({ brands }) => brands && { body: listBody('brands', brands, brand => brand) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/brands',
    operation: RestCreateBrandDocument,
    body: ['name', 'description'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as CreateBrandInput }),
    reply: ({ createBrand }) => {
      const made = one(createBrand)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/publishing/api/brands/${createBrand!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/brands/:brandId',
    operation: RestBrandDocument,
    names: { id: 'brandId' },
    variables: ({ params }) => ({ id: params.brandId! }),
    reply: ({ brand }) => one(brand),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/brands/:brandId',
    operation: RestUpdateBrandDocument,
    names: { id: 'brandId' },
    body: ['name', 'description'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.brandId!, expectedVersion } as UpdateBrandInput }),
    reply: ({ updateBrand }) => one(updateBrand),
  }),
  operationRow({
    method: 'POST',
    path: '/api/brands/:brandId/archive',
    operation: RestArchiveBrandDocument,
    names: { id: 'brandId' },
    variables: ({ params, expectedVersion }) => ({ input: { id: params.brandId!, expectedVersion } }),
    reply: ({ archiveBrand }) => one(archiveBrand),
  }),
  operationRow({
    method: 'POST',
    path: '/api/brands/:brandId/restore',
    operation: RestRestoreBrandDocument,
    names: { id: 'brandId' },
    variables: ({ params, expectedVersion }) => ({ input: { id: params.brandId!, expectedVersion } }),
    reply: ({ restoreBrand }) => one(restoreBrand),
  }),
]
