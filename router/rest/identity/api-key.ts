import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreateApiKeyInput,
  type RestApiKeyFieldsFragment,
  RestApiKeysDocument,
  type RestApiKeysQueryVariables,
  RestCreateApiKeyDocument,
  type RestCreateApiKeyMutation,
  RestRevokeApiKeyDocument,
  RestRotateApiKeyDocument,
  type RotateApiKeyInput,
} from './api-key.generated.ts'

/** A key as routes answer it: the graph's names, enum values in lower case. */
const toRest = (key: RestApiKeyFieldsFragment) => ({ ...key, state: fromEnum(key.state) })

/** A key with its new secret, which no other answer shows. */
const withSecret = (made: RestCreateApiKeyMutation['createApiKey'], status: number): RowReply | null =>
  made?.apiKey ? { status, headers: { 'cache-control': 'no-store' }, body: { apiKey: toRest(made.apiKey), secret: made.secret ?? null } } : null

export const apiKeyRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/api-keys',
    operation: RestApiKeysDocument,
    query: ['service', 'state', 'first', 'after'],
    variables: ({ query }) => ({ ...query, state: toEnum(query.state), first: toInteger(query.first) }) as RestApiKeysQueryVariables,
    reply: ({ apiKeys }) => apiKeys && { body: listBody('apiKeys', apiKeys, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/api-keys',
    operation: RestCreateApiKeyDocument,
    body: ['name', 'service', 'scopes', 'rateLimit', 'serviceAccountId', 'expiresAt'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as CreateApiKeyInput }),
    reply: ({ createApiKey }) => withSecret(createApiKey, 201),
  }),
  operationRow({
    method: 'POST',
    path: '/api/api-keys/:id/rotate',
    operation: RestRotateApiKeyDocument,
    body: ['graceSeconds'],
    variables: ({ params, body, idempotencyKey }) => ({ input: { ...body, id: params.id!, idempotencyKey } as RotateApiKeyInput }),
    reply: ({ rotateApiKey }) => withSecret(rotateApiKey, 200),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/api-keys/:id',
    operation: RestRevokeApiKeyDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ revokeApiKey }) => revokeApiKey && { status: 204 },
  }),
]
