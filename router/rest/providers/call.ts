import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import {
  type ProvisionOrganizationInput,
  RestProviderAppsDocument,
  RestProviderCallDocument,
  type RestProviderCallFieldsFragment,
  RestProviderCallsDocument,
  type RestProviderCallsQueryVariables,
  RestProvisionOrganizationDocument,
  RestUsageDocument,
  type RestUsageQueryVariables,
} from './call.generated.ts'

/** A call as routes answer it: the graph's names, enum values in lower case, who and whose by id. */
const toRest = ({ user, organization, ...call }: RestProviderCallFieldsFragment) => ({
  ...call,
  family: fromEnum(call.family),
  status: fromEnum(call.status),
  userId: user?.id ?? null,
  organizationId: organization?.id ?? null,
})

/** A list that is no page, in the form of one. */
const whole = <Entry>(name: string, entries: readonly Entry[]) => ({ [name]: entries, nextCursor: null, totalCount: entries.length })

export const callRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/calls',
    operation: RestProviderCallsDocument,
    query: ['family', 'appId', 'userId', 'model', 'status', 'since', 'until', 'first', 'after'],
    variables: ({ query }) =>
      ({ ...query, family: toEnum(query.family), status: toEnum(query.status), first: toInteger(query.first) }) as RestProviderCallsQueryVariables,
    reply: ({ providerCalls }) => providerCalls && { body: listBody('calls', providerCalls, toRest) },
  }),
  operationRow({
    method: 'GET',
    path: '/api/calls/:id',
    operation: RestProviderCallDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ providerCall }) => providerCall && { body: toRest(providerCall) },
  }),
  operationRow({
    method: 'GET',
    path: '/api/usage',
    operation: RestUsageDocument,
    query: ['groupBy', 'appId', 'since', 'until'],
    variables: ({ query }) =>
      ({ ...query, groupBy: query.groupBy === undefined ? undefined : query.groupBy.split(',').map(toEnum) }) as RestUsageQueryVariables,
    reply: ({ usage }) =>
      usage && {
        body: whole(
          'usage',
          usage.map(({ user, family, ...row }) => ({ ...row, family: family == null ? null : fromEnum(family), userId: user?.id ?? null })),
        ),
      },
  }),
  operationRow({
    method: 'GET',
    path: '/api/apps',
    operation: RestProviderAppsDocument,
    variables: () => ({}),
    reply: ({ providerApps }) => providerApps && { body: whole('apps', providerApps) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/organizations',
    operation: RestProvisionOrganizationDocument,
    body: ['organizationId'],
    variables: ({ body }) => ({ input: body as ProvisionOrganizationInput }),
    reply: ({ provisionOrganization: made }) =>
      made && {
        status: 200,
        body: {
          ...made,
          organization: undefined,
          organizationId: made.organization?.id ?? null,
          status: fromEnum(made.status),
          promptStorage: fromEnum(made.promptStorage),
        },
      },
  }),
]
