import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
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
  RestRotateCredentialDocument,
  RestTestCredentialDocument,
  RestUpdateCredentialDocument,
  type RotateCredentialInput,
  type UpdateCredentialInput,
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
    method: 'PUT',
    path: '/api/credentials/:id',
    operation: RestUpdateCredentialDocument,
    body: ['name', 'active', 'baseUrl'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as UpdateCredentialInput }),
    reply: ({ updateCredential }) => one(updateCredential),
  }),
  operationRow({
    method: 'POST',
    path: '/api/credentials/:id/rotate',
    operation: RestRotateCredentialDocument,
    body: ['fields', 'graceSeconds'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as RotateCredentialInput }),
    reply: ({ rotateCredential }) => one(rotateCredential),
  }),
  operationRow({
    method: 'POST',
    path: '/api/credentials/:id/test',
    operation: RestTestCredentialDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ testCredential }) => one(testCredential),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/credentials/:id',
    operation: RestDeleteCredentialDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteCredential }) => deleteCredential && { status: 204 },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/internal/network-applications/:platform',
    access: { scope: 'providers:service.invoke' },
    limit: 0,
    to: 'providers',
    why: 'own answer',
    tells: { nothing: 'It hands a secret to one service of ours, which knows it: nobody else is to write a client for it.' },
  },
]
