import { DomainError } from '../../../../platform/errors.ts'
import { checkSameContent } from '../../../../platform/idempotency.ts'
import { requireName } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { unanswered } from '../../../../platform/outbound/public.ts'
import { change, create, inTransaction, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { checkOf } from '../../engines/connect/check.ts'
import { ownKinds, provideConnectors } from '../../engines/connect/provide.ts'
import type { CheckConnectorInput, CreateConnectorInput, DeleteConnectorInput, Resolvers, UpdateConnectorInput } from '../../resolvers.generated.ts'
import { type ConnectorRow, openHeaders, sealHeaders } from '../../stores/connector.ts'
import { changeTools, limits, readAddress, readCounterparty, readHeaders, requireCreatable, requireInUse, requireOwnTools, requireRemovable } from './rules.ts'

const auditOf = (action: string) => (row: ConnectorRow) => ({ tenantId: row.organizationId, action, subjectId: row.id, details: { kind: row.kind } })

/** Adds a server of tools; once for each key. */
async function createConnector(context: Context, input: CreateConnectorInput): Promise<ConnectorRow> {
  const { viewer, connectors, connect } = context
  const organizationId = activeOrganization(viewer, 'Connectors')
  requireCreatable(input.kind)
  const name = requireName(input.name, 'name', limits.name)
  const counterparty = readCounterparty(input.counterparty, 'counterparty')
  const headers = readHeaders(input.headers)
  const url = readAddress(input.baseUrl)
  if (!(await connect.way.reaches(url).catch(unanswered('baseUrl'))))
    throw new DomainError('BAD_USER_INPUT', 'baseUrl leads to a private address, which is not called from here: name a public one.', { field: 'baseUrl' })
  const { row, repeated } = await create(context, {
    of: connectors,
    // A short value could be guessed from the hash of the input, so it is left out of it.
    once: { ...input, headers: headers.map(header => header.name) } as { readonly idempotencyKey?: string | null },
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const made = await connectors.madeFor(organizationId, transaction)
      requireQuota(made, { inAll: limits.connectors, aDay: Number.POSITIVE_INFINITY }, 'connectors', 'delete one first', now)
      const sealed = sealHeaders(connect.cipher, id, headers)
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      return { id, organizationId, name, kind: input.kind, counterparty, baseUrl: url.href, headers: sealed, ...stamps }
    },
    audit: auditOf('connector.created'),
  })
  if (repeated && JSON.stringify(openHeaders(connect.cipher, row)) !== JSON.stringify(headers))
    checkSameContent(null, { key: input.idempotencyKey!, hash: '' }, 'connector')
  return row
}

function updateConnector(context: Context, { id, expectedVersion, ...input }: UpdateConnectorInput): Promise<ConnectorRow> {
  return change(context, {
    of: context.connectors,
    ...{ id, expectedVersion },
    decide(connector) {
      requireOwnTools(connector, input)
      const isBack = input.active === true && connector.status === 'DISABLED'
      return {
        ...(typeof input.name === 'string' && { name: requireName(input.name, 'name', limits.name) }),
        ...(input.counterparty !== undefined && { counterparty: readCounterparty(input.counterparty, 'counterparty') }),
        ...(input.tools && { tools: changeTools(connector.tools, input.tools) }),
        ...(input.active === false && { status: 'DISABLED' as const, message: null }),
        ...(isBack && { status: 'UNTESTED' as const, message: null }),
      }
    },
    audit: ({ after }) => auditOf('connector.updated')(after),
  })
}

/** Calls a connector and writes down how it answered. */
async function checkConnector(context: Context, { id, expectedVersion }: CheckConnectorInput): Promise<ConnectorRow> {
  const { connectors, connect } = context
  const connector = await connectors.require(id)
  requireInUse(connector, 'check')
  const found = await checkOf(connect, connector, context.leaving)
  return change(context, {
    of: connectors,
    ...{ id, expectedVersion },
    decide(present, { now }) {
      requireInUse(present, 'check')
      return { ...found(present.tools), checkedAt: now }
    },
    audit: ({ after }) => auditOf('connector.checked')(after),
  })
}

const deleteConnector = (context: Context, { id, expectedVersion }: DeleteConnectorInput): Promise<ConnectorRow> =>
  remove(context, { of: context.connectors, ...{ id, expectedVersion }, decide: requireRemovable, audit: auditOf('connector.deleted') })

const byName = (a: ConnectorRow, b: ConnectorRow): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1)

/** The connectors of the active organization, by name. One older than connectors gets those that every organization has. */
async function connectorsOf(context: Context): Promise<readonly ConnectorRow[]> {
  const { viewer, connectors } = context
  const organizationId = activeOrganization(viewer, 'Connectors')
  const list = connectors.manyBy('organizationId')
  const found = await list.load(organizationId)
  if (ownKinds.every(kind => found.some(each => each.kind === kind))) return found.toSorted(byName)
  await inTransaction(context, unit => provideConnectors(context, organizationId, unit))
  return (await list.clear(organizationId).load(organizationId)).toSorted(byName)
}

export const connectorResolvers: Resolvers = {
  Query: {
    connector: (_, { id }, { connectors }) => connectors.require(id),
    connectors: (_, __, context) => connectorsOf(context),
  },
  Mutation: {
    createConnector: (_, { input }, context) => createConnector(context, input),
    updateConnector: (_, { input }, context) => updateConnector(context, input),
    checkConnector: (_, { input }, context) => checkConnector(context, input),
    deleteConnector: (_, { input }, context) => deleteConnector(context, input),
  },
  Connector: {
    __resolveReference: ({ id }, { connectors }) => connectors.byId.load(id),
    // Where the developer platform is, is configured: without, its connector is out of use.
    baseUrl: ({ kind, baseUrl }, _, { connect }) => (kind === 'MOBILE_APP_CATALOGUE' ? connect.developersUrl : baseUrl),
    status: ({ kind, status }, _, { connect }) => (kind === 'MOBILE_APP_CATALOGUE' && connect.developersUrl === null ? 'DISABLED' : status),
  },
}
