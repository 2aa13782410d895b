import { listBody } from '../derive/list.ts'
import { fromEnum, toBoolean, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  RestCheckConnectionDocument,
  RestConnectionDocument,
  type RestConnectionQuery,
  RestConnectionsDocument,
  type RestConnectionsQueryVariables,
  RestDisconnectConnectionDocument,
  RestRenewConnectionDocument,
  RestSelectConnectionTargetsDocument,
  type SelectConnectionTargetsInput,
} from './connection.generated.ts'

type GraphConnection = NonNullable<RestConnectionQuery['connection']>

/** A connection as routes answer it: the graph's names, enum values in lower case, its author by id. */
function toRest({ author, ...connection }: GraphConnection) {
  return {
    ...connection,
    authorId: author?.id ?? null,
    platform: fromEnum(connection.platform),
    health: fromEnum(connection.health),
    targets: connection.targets.map(target => ({ ...target, kind: fromEnum(target.kind) })),
  }
}

/** One connection with its version as entity tag, which `If-Match` takes back. What its network says in between changes no version, so that stands in the tag too. */
const one = (connection: GraphConnection | null | undefined): RowReply | null =>
  connection
    ? {
        headers: { etag: tagOfVersion(connection.version, [connection.accessExpiresAt, connection.lastCheckedAt, connection.rateLimit?.remaining].join('-')) },
        body: toRest(connection),
      }
    : null

const placeOf = (place: unknown) => (typeof place === 'object' && place !== null && 'kind' in place ? { ...place, kind: toEnum(place.kind) } : place)

export const connectionRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/connections',
    operation: RestConnectionsDocument,
    query: ['brandId', 'platform', 'health', 'orphaned', 'first', 'after'],
    variables: ({ query }) =>
      ({
        ...query,
        platform: toEnum(query.platform),
        health: toEnum(query.health),
        orphaned: toBoolean(query.orphaned),
        first: toInteger(query.first),
      }) as RestConnectionsQueryVariables,
    reply: ({ connections }) => connections && { body: listBody('connections', connections, toRest) },
  }),
  operationRow({
    method: 'GET',
    path: '/api/connections/:id',
    operation: RestConnectionDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ connection }) => one(connection),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/connections/:id',
    operation: RestDisconnectConnectionDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ disconnectConnection }) => disconnectConnection && { status: 204 },
  }),
  operationRow({
    method: 'PUT',
    path: '/api/connections/:id/targets',
    operation: RestSelectConnectionTargetsDocument,
    body: ['targets', 'default'],
    variables: ({ params, body, expectedVersion }) => {
      const { targets, default: usual } = body as { targets?: unknown; default?: unknown }
      const places = { targets: Array.isArray(targets) ? targets.map(placeOf) : targets, ...(usual !== undefined && { default: placeOf(usual) }) }
      return { input: { ...places, id: params.id!, expectedVersion } as SelectConnectionTargetsInput }
    },
    reply: ({ selectConnectionTargets }) => one(selectConnectionTargets),
  }),
  operationRow({
    method: 'POST',
    path: '/api/connections/:id/check',
    operation: RestCheckConnectionDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ checkConnection }) => one(checkConnection),
  }),
  operationRow({
    method: 'POST',
    path: '/api/internal/connections/:id/refresh',
    operation: RestRenewConnectionDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ renewConnection }) => renewConnection && { body: { ...renewConnection, platform: fromEnum(renewConnection.platform) } },
  }),
]
