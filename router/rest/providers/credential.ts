import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { listBody } from '../list.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreateCredentialInput,
  RestCreateCredentialDocument,
  RestCredentialDocument,
  type RestCredentialQuery,
  RestCredentialsDocument,
  type RestCredentialsQueryVariables,
  RestDeleteCredentialDocument,
} from './credential.generated.ts'

type GraphCredential = NonNullable<RestCredentialQuery['credential']>

/** A credential as routes answer it: the graph's names, enum values in lower case, its organization by id. */
const toRest = ({ organization, ...credential }: GraphCredential) => ({
  ...credential,
  family: fromEnum(credential.family),
  level: fromEnum(credential.level),
  status: fromEnum(credential.status),
  organizationId: organization?.id ?? null,
})

/** One credential with its version as entity tag, which `If-Match` takes back. */
const one = (credential: GraphCredential | null | undefined): RowReply | null =>
  credential ? { headers: { etag: tagOfVersion(credential.version) }, body: toRest(credential) } : null

export const credentialRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/credentials',
    operation: RestCredentialsDocument,
    query: ['provider', 'family', 'level', 'first', 'after'],
    variables: ({ query }) =>
      ({ ...query, family: toEnum(query.family), level: toEnum(query.level), first: toInteger(query.first) }) as RestCredentialsQueryVariables,
    reply: ({ credentials }) => credentials && { body: listBody('credentials', credentials, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/credentials',
    operation: RestCreateCredentialDocument,
    body: ['provider', 'name', 'level', 'fields', 'baseUrl'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, level: toEnum(body.level), idempotencyKey } as CreateCredentialInput }),
    reply: ({ createCredential }) => {
      const made = one(createCredential)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/providers/api/credentials/${createCredential!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/credentials/:id',
    operation: RestCredentialDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ credential }) => one(credential),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/credentials/:id',
    operation: RestDeleteCredentialDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteCredential }) => deleteCredential && { status: 204 },
  }),
]
