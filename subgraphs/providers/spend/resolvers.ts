import { mapEvents } from '../../../platform/events.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { slugs } from '../../scopes.ts'
import { change, create, remove } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { factsOf, limitTopic } from '../engines/spend/announce.ts'
import { alerted, asOf, changed, overdrawn, remainingOf } from '../engines/spend/booking.ts'
import type { CreateSpendLimitInput, DeleteSpendLimitInput, Resolvers, UpdateSpendLimitInput } from '../resolvers.generated.ts'
import { resetsAt, type SpendLimitRow, sinceOf } from '../stores/spend/limit.ts'
import { limitIsThere } from '../stores/spend/limits.ts'
import {
  hardLimitOptions,
  type Known,
  maySeeHard,
  readMicros,
  readNote,
  readScope,
  requireGovernor,
  requireLimit,
  requirePlatformChanger,
  requirePlatformReader,
} from './rules.ts'

/** Returns the audit entry of a limit, without the amount of a hard limit, because admins read it too. */
const lineOf = (tenantId: string, action: string, { id, level, scopeType, scopeValue, period }: SpendLimitRow) => ({
  tenantId,
  action,
  subjectId: id,
  details: { level, scopeType, scopeValue, period },
})

const knownTo = ({ viewer, clients, isMember }: Context, organizationId: string): Known => ({
  app: async appId => slugs.some(slug => appId === `app_${slug}`) || (await clients.of(appId)) !== null,
  member: userId => isMember({ userId, organizationId }, viewer),
})

/**
 * Creates a limit; once for each idempotency key. Its figures include what the scope has spent earlier in the period.
 */
async function createSpendLimit(context: Context, input: CreateSpendLimitInput): Promise<SpendLimitRow> {
  const { viewer, spendLimits, spending, quotas, publicUrl } = context
  const tenantId = activeOrganization(viewer, 'Spend limits')
  const level = input.level ?? 'ORGANIZATION'
  if (level === 'PLATFORM') requirePlatformChanger(viewer)
  const amounts = {
    softLimitMicros: readMicros(input.softLimitMicros, 'softLimitMicros') ?? null,
    hardLimitMicros: readMicros(input.hardLimitMicros, 'hardLimitMicros') ?? null,
  }
  if (amounts.hardLimitMicros !== null) requireGovernor(viewer, level)
  requireLimit(amounts)
  const note = readNote(input.note) ?? null
  const { scopeType, period } = input
  const scopeValue = await readScope({ level, scopeType, scopeValue: input.scopeValue }, tenantId, knownTo(context, tenantId))
  const organizationId = level === 'PLATFORM' ? null : tenantId
  let replaced: SpendLimitRow | null = null
  const { row } = await create(context, {
    of: spendLimits,
    once: { ...input, softLimitMicros: `${amounts.softLimitMicros}`, hardLimitMicros: `${amounts.hardLimitMicros}` } as object,
    tenantId,
    async run({ transaction, now }, id) {
      const place = { organizationId, scopeType, scopeValue, period }
      if (scopeType === 'PLATFORM_CREDENTIALS') replaced = await spendLimits.removeDefault(scopeValue, transaction)
      const { inAll, alike } = await spendLimits.ofOwner(place, transaction)
      if (alike > 0) throw limitIsThere(place)
      const most = { inAll: quotas.spendLimitsAnOrganization, aDay: Number.POSITIVE_INFINITY }
      requireQuota({ inAll, today: 0, todaySince: null }, most, 'spend limits', 'remove one first', now)
      const since = sinceOf(period, now, now)
      const isCounted = period === 'TOTAL'
      const spentMicros = isCounted ? 0n : await spendLimits.spentBefore({ ...place, since }, transaction)
      const figures = {
        since,
        spentMicros,
        reservedMicros: 0n,
        overdrawnMicros: 0n,
        isCounted,
        alerts: [],
        attention: null,
        isDefault: false,
        hasAllowance: true,
      }
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer), version: 1 }
      return alerted(
        overdrawn({
          id,
          level,
          tenantId: managersOf(place) ?? tenantId,
          ...place,
          ...amounts,
          unpriced: input.unpriced ?? 'BLOCK',
          note,
          ...figures,
          ...stamps,
        }),
        now,
      )
    },
    audit: row => lineOf(tenantId, 'spend_limit.created', row),
    facts: row => [...(replaced ? factsOf(replaced, null, publicUrl, row.createdAt) : []), ...factsOf(null, row, publicUrl, row.createdAt)],
    announce: row => announceLimit(context, row),
  })
  // Calls that ended during the creation are counted now that every process sees the limit.
  return row.isCounted ? row : ((await spending.count(row)) ?? row)
}

/** Viewers who may follow a platform limit besides platform admins: those who may spend its credentials. */
const managersOf = ({ scopeType, scopeValue }: Pick<SpendLimitRow, 'scopeType' | 'scopeValue'>): string | null =>
  scopeType === 'PLATFORM_CREDENTIALS' ? scopeValue : null

const announceLimit = ({ events }: Context, { id }: SpendLimitRow) => events.announce(limitTopic(id), { id })

/** Limits of the platform are visible to others, so the error says that changing is forbidden. */
async function requireChangeable({ viewer, spendLimits }: Context, id: string): Promise<string> {
  const tenantId = activeOrganization(viewer, 'Spend limits')
  if ((await spendLimits.levelOf(requireId(id, 'id'))) === 'PLATFORM') requirePlatformChanger(viewer)
  return tenantId
}

async function updateSpendLimit(context: Context, input: UpdateSpendLimitInput): Promise<SpendLimitRow> {
  const { viewer, spendLimits, publicUrl } = context
  const tenantId = await requireChangeable(context, input.id)
  const given = {
    softLimitMicros: readMicros(input.softLimitMicros, 'softLimitMicros'),
    hardLimitMicros: readMicros(input.hardLimitMicros, 'hardLimitMicros'),
    unpriced: input.unpriced ?? undefined,
    note: readNote(input.note),
  }
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<SpendLimitRow>
  return change(context, {
    of: spendLimits,
    id: input.id,
    expectedVersion: input.expectedVersion,
    decide(row, { now }) {
      if ('hardLimitMicros' in changes || ('unpriced' in changes && row.hardLimitMicros !== null)) requireGovernor(viewer, row.level)
      if (Object.entries(changes).every(([name, value]) => row[name as keyof SpendLimitRow] === value)) return {}
      const next = changed(row, changes, now)
      requireLimit(next)
      const { since, spentMicros, reservedMicros, overdrawnMicros, alerts, attention } = next
      // A new note leaves the limit under the control of the setting; a new amount does not.
      const isDefault = row.isDefault && !('hardLimitMicros' in changes) && !('softLimitMicros' in changes)
      return { ...changes, isDefault, since, spentMicros, reservedMicros, overdrawnMicros, alerts, attention }
    },
    audit: ({ after }) => lineOf(tenantId, 'spend_limit.updated', after),
    facts: ({ before, after }) => factsOf(before, after, publicUrl, after.updatedAt),
    announce: ({ after }) => announceLimit(context, after),
  })
}

async function deleteSpendLimit(context: Context, { id, expectedVersion }: DeleteSpendLimitInput): Promise<SpendLimitRow> {
  const { viewer, spendLimits, publicUrl } = context
  const tenantId = await requireChangeable(context, id)
  return remove(context, {
    of: spendLimits,
    id,
    expectedVersion,
    decide: ({ level, hardLimitMicros }) => (hardLimitMicros === null ? undefined : requireGovernor(viewer, level)),
    audit: row => lineOf(tenantId, 'spend_limit.deleted', row),
    facts: row => factsOf(row, null, publicUrl, row.updatedAt),
    announce: row => announceLimit(context, row),
  })
}

/** Returns a limit in the present period, which may have begun after its last call. */
const present = (row: SpendLimitRow, { clock }: Context): SpendLimitRow => asOf(row, clock.now())

export const spendResolvers: Resolvers = {
  Query: {
    spendLimit: (_, { id }, { spendLimits }) => spendLimits.require(id),
    spendLimits: async (_, { level, scopeType, ...page }, { viewer, spendLimits }) => {
      activeOrganization(viewer, 'Spend limits')
      if (level === 'PLATFORM') requirePlatformReader(viewer)
      return spendLimits.filtered({ level: level ?? 'ORGANIZATION', scopeType }, page)
    },
    hardLimitOptions: (_, __, { viewer }) => {
      activeOrganization(viewer, 'Spend limits')
      return hardLimitOptions(viewer)
    },
  },
  Mutation: {
    createSpendLimit: (_, { input }, context) => createSpendLimit(context, input),
    updateSpendLimit: (_, { input }, context) => updateSpendLimit(context, input),
    deleteSpendLimit: (_, { input }, context) => deleteSpendLimit(context, input),
  },
  Subscription: {
    spendLimitChanged: {
      subscribe: async (_, args, { spendLimits, events }) => {
        const { id } = await spendLimits.require(args.id)
        return mapEvents(events.listen([limitTopic(id)]), () => ({ id }))
      },
      // Read for each event, so the viewer's present rights apply.
      resolve: ({ id }: { id: string }, _: unknown, { spendLimits }: Context) => spendLimits.byId.load(id),
    },
  },
  SpendLimit: {
    __resolveReference: ({ id }, { spendLimits }) => spendLimits.byId.load(id),
    hardLimit: (row, _, context) => {
      if (row.hardLimitMicros === null || !maySeeHard(context.viewer, row)) return null
      const remaining = remainingOf(present(row, context))!
      return { limitMicros: row.hardLimitMicros, remainingMicros: remaining < 0n ? 0n : remaining }
    },
    spentMicros: (row, _, context) => present(row, context).spentMicros,
    reservedMicros: (row, _, context) => present(row, context).reservedMicros,
    resetsAt: (row, _, context) => resetsAt(row.period, present(row, context).since),
    alerts: (row, _, context) => present(row, context).alerts.map(({ kind, at }) => ({ kind, at: new Date(at) })),
  },
}
