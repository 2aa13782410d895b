import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import {
  type CreateProfileSourceInput,
  RestCreateProfileSourceDocument,
  type RestProfileSourceFieldsFragment,
  RestProfileSourcesDocument,
  type RestProfileSourcesQueryVariables,
} from './profile-source.generated.ts'

/** A source as routes answer it: the graph's names, enum values in lower case, what it leads to by id. */
const toRest = ({ profile, capturedBy, ...source }: RestProfileSourceFieldsFragment) => ({
  ...source,
  kind: fromEnum(source.kind),
  status: fromEnum(source.status),
  personProfileId: profile?.id ?? null,
  capturedById: capturedBy?.id ?? null,
})

export const profileSourceRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/person-profiles/:id/sources',
    operation: RestProfileSourcesDocument,
    query: ['first', 'after'],
    variables: ({ params, query }) => ({ ...query, id: params.id!, first: toInteger(query.first) }) as RestProfileSourcesQueryVariables,
    reply: ({ personProfile }) =>
      personProfile?.sources
        ? {
            body: listBody('sources', personProfile.sources, toRest),
          }
        : null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/person-profiles/:id/sources',
    operation: RestCreateProfileSourceDocument,
    body: ['kind', 'title', 'text', 'url', 'language'],
    names: { personProfileId: 'id' },
    variables: ({ params, body, idempotencyKey }) => ({
      input: { ...body, kind: toEnum(body.kind), personProfileId: params.id!, idempotencyKey } as CreateProfileSourceInput,
    }),
    reply: ({ createProfileSource }) => createProfileSource && { status: 201, body: toRest(createProfileSource) },
  }),
]
