import { fromEnum, toBoolean, toEnum, toInteger } from '../enum-case.ts'
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
  RestPauseBrandDocument,
  RestRestoreBrandDocument,
  RestResumeBrandDocument,
  RestTransferBrandDocument,
  RestUpdateBrandDocument,
  type ResumeBrandInput,
  type TransferBrandInput,
  type UpdateBrandInput,
} from './brand.generated.ts'

type GraphBrand = NonNullable<RestBrandQuery['brand']>

/** A brand as routes answer it: the graph's names, enum values in lower case, persons by their ids. */
const toRest = ({ approvers, ...brand }: GraphBrand) => ({
  ...brand,
  approvalMode: fromEnum(brand.approvalMode),
  approverIds: (approvers ?? []).flatMap(person => (person ? [person.id] : [])),
})

/** What a brand is made of, as the graph takes it. */
const wordsOf = (body: Readonly<Record<string, unknown>>) => ({ ...body, ...('approvalMode' in body && { approvalMode: toEnum(body.approvalMode) }) })

/** One brand with its version as entity tag, which `If-Match` takes back. */
const one = (brand: GraphBrand | null | undefined): RowReply | null => (brand ? { headers: { etag: tagOfVersion(brand.version) }, body: toRest(brand) } : null)

export const brandRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/brands',
    operation: RestBrandsDocument,
    query: ['archived', 'first', 'after'],
    variables: ({ query }) => ({ ...query, archived: toBoolean(query.archived), first: toInteger(query.first) }) as RestBrandsQueryVariables,
    reply: ({ brands }) => brands && { body: listBody('brands', brands, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/brands',
    operation: RestCreateBrandDocument,
    body: ['name', 'description', 'timeZone', 'approvalMode'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...wordsOf(body), idempotencyKey } as CreateBrandInput }),
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
    body: ['name', 'description', 'timeZone', 'approvalMode', 'approverIds'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...wordsOf(body), id: params.brandId!, expectedVersion } as UpdateBrandInput }),
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
  operationRow({
    method: 'POST',
    path: '/api/brands/:brandId/pause',
    operation: RestPauseBrandDocument,
    names: { id: 'brandId' },
    variables: ({ params, expectedVersion }) => ({ input: { id: params.brandId!, expectedVersion } }),
    reply: ({ pauseBrand }) => one(pauseBrand),
  }),
  operationRow({
    method: 'POST',
    path: '/api/brands/:brandId/resume',
    operation: RestResumeBrandDocument,
    names: { id: 'brandId' },
    body: ['overdue'],
    variables: ({ params, body, expectedVersion }) => ({ input: { overdue: toEnum(body.overdue), id: params.brandId!, expectedVersion } as ResumeBrandInput }),
    reply: ({ resumeBrand }) => one(resumeBrand),
  }),
  operationRow({
    method: 'POST',
    path: '/api/brands/:brandId/transfer-organization',
    operation: RestTransferBrandDocument,
    names: { id: 'brandId' },
    body: ['organizationId'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.brandId!, expectedVersion } as TransferBrandInput }),
    reply: ({ transferBrand }) => one(transferBrand),
  }),
]
