import { listBody } from '../../derive/list.ts'
import { toBoolean, toInteger } from '../../enum-case.ts'
import { tagOfVersion } from '../../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../../row.ts'
import {
  type CreateCampaignInput,
  RestArchiveCampaignDocument,
  RestCampaignDocument,
  type RestCampaignQuery,
  RestCampaignsDocument,
  type RestCampaignsQueryVariables,
  RestCreateCampaignDocument,
  RestDeleteCampaignDocument,
  RestRestoreCampaignDocument,
  RestUpdateCampaignDocument,
  type UpdateCampaignInput,
} from './campaign.generated.ts'

type GraphCampaign = NonNullable<RestCampaignQuery['campaign']>

/**
 * One campaign with its version as entity tag, which `If-Match` takes back. Its counts change with its posts and not with its version, so
 * they stand in the tag too.
 */
const one = (campaign: GraphCampaign | null | undefined): RowReply | null => {
  if (!campaign) return null
  const { draft, scheduled, published, failed } = campaign.counts
  const counts = [draft, scheduled, published, failed]
  return { headers: { etag: tagOfVersion(campaign.version, counts.some(Boolean) ? counts.join('-') : '') }, body: campaign }
}

const fields = ['name', 'description', 'color', 'startsOn', 'endsOn'] as const

export const campaignRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/campaigns',
    operation: RestCampaignsDocument,
    query: ['brandId', 'archived', 'first', 'after'],
    variables: ({ query }) => ({ ...query, archived: toBoolean(query.archived), first: toInteger(query.first) }) as RestCampaignsQueryVariables,
    reply: ({ campaigns }) => campaigns && { body: listBody('campaigns', campaigns, campaign => campaign) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/campaigns',
    operation: RestCreateCampaignDocument,
    body: ['brandId', ...fields],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as CreateCampaignInput }),
    reply: ({ createCampaign }) => {
      const made = one(createCampaign)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/publishing/api/campaigns/${createCampaign!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/campaigns/:id',
    operation: RestCampaignDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ campaign }) => one(campaign),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/campaigns/:id',
    operation: RestUpdateCampaignDocument,
    body: fields,
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as UpdateCampaignInput }),
    reply: ({ updateCampaign }) => one(updateCampaign),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/campaigns/:id',
    operation: RestDeleteCampaignDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteCampaign }) => deleteCampaign && { status: 204 },
  }),
  operationRow({
    method: 'POST',
    path: '/api/campaigns/:id/archive',
    operation: RestArchiveCampaignDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ archiveCampaign }) => one(archiveCampaign),
  }),
  operationRow({
    method: 'POST',
    path: '/api/campaigns/:id/restore',
    operation: RestRestoreCampaignDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ restoreCampaign }) => one(restoreCampaign),
  }),
]
