import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreateSpendLimitInput,
  RestCreateSpendLimitDocument,
  RestDeleteSpendLimitDocument,
  RestHardLimitOptionsDocument,
  RestSpendLimitDocument,
  type RestSpendLimitQuery,
  RestSpendLimitsDocument,
  type RestSpendLimitsQueryVariables,
  RestUpdateSpendLimitDocument,
  type UpdateSpendLimitInput,
} from './spend.generated.ts'

type GraphLimit = NonNullable<RestSpendLimitQuery['spendLimit']>

/** A limit as routes answer it: enum values in lower case, its scope under the names that callers of before know. */
const toRest = ({ scopeType, scopeValue, ...limit }: GraphLimit) => ({
  ...limit,
  level: fromEnum(limit.level),
  scope_type: fromEnum(scopeType),
  scope_value: scopeValue,
  period: fromEnum(limit.period),
  unpriced: fromEnum(limit.unpriced),
  alerts: limit.alerts.map(({ kind, at }) => ({ kind: fromEnum(kind), at })),
})

/** What the scope is called here. */
const names = { scopeType: 'scope_type', scopeValue: 'scope_value' }

/** One limit with its version as entity tag, which `If-Match` takes back. */
const one = (limit: GraphLimit | null | undefined): RowReply | null => (limit ? { headers: { etag: tagOfVersion(limit.version) }, body: toRest(limit) } : null)

export const spendRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/limits',
    operation: RestSpendLimitsDocument,
    query: ['level', 'scope_type', 'first', 'after'],
    names,
    variables: ({ query: { scope_type, ...query } }) =>
      ({ ...query, level: toEnum(query.level), scopeType: toEnum(scope_type), first: toInteger(query.first) }) as RestSpendLimitsQueryVariables,
    reply: ({ spendLimits }) => spendLimits && { body: listBody('limits', spendLimits, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/limits',
    operation: RestCreateSpendLimitDocument,
    body: ['level', 'scope_type', 'scope_value', 'period', 'softLimitMicros', 'hardLimitMicros', 'unpriced', 'note'],
    names,
    variables: ({ body: { scope_type, scope_value, ...body }, idempotencyKey }) => ({
      input: {
        ...body,
        level: toEnum(body.level),
        scopeType: toEnum(scope_type),
        scopeValue: scope_value,
        period: toEnum(body.period),
        unpriced: toEnum(body.unpriced),
        idempotencyKey,
      } as CreateSpendLimitInput,
    }),
    reply: ({ createSpendLimit }) => {
      const made = one(createSpendLimit)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/providers/api/limits/${createSpendLimit!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/limits/options',
    operation: RestHardLimitOptionsDocument,
    variables: () => ({}),
    reply: ({ hardLimitOptions }) =>
      hardLimitOptions && {
        body: {
          options: hardLimitOptions.flatMap(option =>
            option
              ? [
                  {
                    scope_type: fromEnum(option.scopeType),
                    levels: option.levels.map(fromEnum),
                    periods: option.periods.map(fromEnum),
                    minMicros: option.minMicros,
                    maxMicros: option.maxMicros,
                  },
                ]
              : [],
          ),
        },
      },
  }),
  operationRow({
    method: 'GET',
    path: '/api/limits/:id',
    operation: RestSpendLimitDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ spendLimit }) => one(spendLimit),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/limits/:id',
    operation: RestUpdateSpendLimitDocument,
    body: ['softLimitMicros', 'hardLimitMicros', 'unpriced', 'note'],
    variables: ({ params, body, expectedVersion }) => ({
      input: { ...body, unpriced: toEnum(body.unpriced), id: params.id!, expectedVersion } as UpdateSpendLimitInput,
    }),
    reply: ({ updateSpendLimit }) => one(updateSpendLimit),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/limits/:id',
    operation: RestDeleteSpendLimitDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteSpendLimit }) => deleteSpendLimit && { status: 204 },
  }),
]
