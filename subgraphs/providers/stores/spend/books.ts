import type { Sequelize, Transaction } from 'sequelize'
import { sharedTransactionLock } from '../../../../platform/sql/lock.ts'
import { lockingStatement, rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import { columnOf, selectList } from '../../../../platform/sql/table.ts'
import { type CallRow, calls } from '../call.ts'
import { type Scope, type SpendLimitRow, type SpendScopeType, scopeOfPlatformCredentials, scopesOf, sinceOf, spendLimits } from './limit.ts'

/** Id that represents the platform where limits are looked up by their owner. */
const platformOwner = '00000000-0000-0000-0000-000000000000'

/** Scopes in which limits are looked up: those of an organization, which the platform may limit as well. */
export interface Place extends Scope {
  readonly organizationId: string
}

/** Formats texts as a PostgreSQL array; the driver would process each text three times, and a call binds dozens. */
const arrayOf = (texts: readonly string[]): string => `{${texts.map(text => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`).join()}}`

const ofPlaces = (places: readonly Place[]): readonly string[] => [
  arrayOf(places.flatMap(({ organizationId }) => [organizationId, platformOwner])),
  arrayOf(places.flatMap(({ type }) => [type, type])),
  arrayOf(places.flatMap(({ value }) => [value, value])),
]

/** Selects the limits of scopes that are bound as three arrays, from `$first` on. */
const limitsAt = (first: number) =>
  `providers.spend_limits l join unnest($${first}::uuid[], $${first + 1}::text[], $${first + 2}::text[]) as p (owner_id, scope_type, scope_value)
     on l.owner_id = p.owner_id and l.scope_type = p.scope_type and l.scope_value = p.scope_value`

const written = ['attempts', 'held', 'pending']
const names = Object.keys(calls.columns)
const columns = names.map(columnOf).join(', ')
const typeOf = (name: string): string => calls.columns[name as keyof typeof calls.columns].type
const types = names.map(name => `${columnOf(name)} ${typeOf(name)}`).join(', ')
const endNames = [
  'status',
  'model',
  'provider',
  'inputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'outputTokens',
  'units',
  'costMicros',
  'platformMicros',
  'doubtful',
  'latencyMs',
  'firstByteMs',
  'attempts',
  'held',
  'expired',
  'expiresAt',
  'pending',
  'pendingUntil',
  'endedAt',
] as const
const setEnd = endNames.map(name => `${columnOf(name)} = e.${columnOf(name)}`).join(', ')

/** Columns that change after a call has begun: at its end, and when its reserved amount changes. */
export type CallChange = Pick<CallRow, 'organizationId' | 'id' | (typeof endNames)[number]>

/** Returns a change that leaves a call unchanged. */
export const changeOf = (call: CallRow): CallChange =>
  Object.fromEntries((['organizationId', 'id', ...endNames] as const).map(name => [name, call[name]])) as unknown as CallChange

// Every list parameter states its length: otherwise PostgreSQL assumes a hundred elements and scans whole tables.

const insertFree = lockingStatement(
  `insert into providers.calls (${columns}) select ${columns} from jsonb_to_recordset($1::jsonb) as c (${types})
    where not exists (select from ${limitsAt(2)}) returning id`,
)
const endFree = lockingStatement(
  `update providers.calls c set ${setEnd} from (select * from jsonb_to_recordset($1::jsonb) as r (${types}) limit 1) e
    where c.organization_id = e.organization_id and c.id = e.id and c.status = 'RUNNING' and c.held = '[]' and not c.has_new_limit
      and (coalesce(e.cost_micros, 0) = 0 or not exists (select from ${limitsAt(2)})) returning c.id`,
)
const lockCalls = statement(
  `select ${selectList(calls, 'c')} from providers.calls c join unnest($1::uuid[], $2::uuid[]) as k (organization_id, id)
      on c.organization_id = k.organization_id and c.id = k.id
    where c.status = 'RUNNING' or c.expired or c.pending_until is not null order by c.id for no key update of c`,
)
const lockLimits = statement(
  `select ${selectList(spendLimits, 't')} from providers.spend_limits t
    where t.id in (select l.id from ${limitsAt(2)} union all select unnest($1::uuid[])) order by t.id for no key update of t`,
)
const figures = ['since', 'spentMicros', 'reservedMicros', 'overdrawnMicros', 'isCounted', 'alerts', 'attention'] as const
const figureTypes = figures.map(name => `${columnOf(name)} ${spendLimits.columns[name].type}`).join(', ')
const writeBooks = statement(
  `with figures as (
     update providers.spend_limits l set ${figures.map(name => `${columnOf(name)} = f.${columnOf(name)}`).join(', ')}
       from (select * from jsonb_to_recordset($1::jsonb) as r (id uuid, ${figureTypes}) limit $4) f where l.id = f.id),
   begun as (insert into providers.calls (${columns}) select ${columns} from jsonb_to_recordset($2::jsonb) as c (${types}))
   update providers.calls c set ${setEnd} from (select * from jsonb_to_recordset($3::jsonb) as r (${types}) limit $5) e where c.organization_id = e.organization_id and c.id = e.id`,
)
/** Values of a changed limit: its version and figures as they were read, and its new state. */
const { id, version, since, spentMicros, reservedMicros, overdrawnMicros, isCounted, alerts, attention } = spendLimits.columns
const changeColumns = {
  ...{ id: id.type, version: version.type, since: since.type, spent_micros: spentMicros.type, reserved_micros: reservedMicros.type },
  ...{ overdrawn_micros: overdrawnMicros.type, is_counted: isCounted.type },
  ...{ next_since: since.type, next_spent_micros: spentMicros.type, next_reserved_micros: reservedMicros.type, next_overdrawn_micros: overdrawnMicros.type },
  ...{ next_is_counted: isCounted.type, next_alerts: alerts.type, next_attention: attention.type },
}
type ChangeRecord = Readonly<Record<keyof typeof changeColumns, unknown>>
const changeTypes = Object.entries(changeColumns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ')
/** The limit as it was read, which must be unchanged, and its new values. */
const [compared, next] = [Object.keys(changeColumns).filter(name => name !== 'id' && !name.startsWith('next_')), figures.map(name => `next_${columnOf(name)}`)]
/**
 * The same for a single entry, if the limits that it changes (`$1`, `$2` of them) are as they were read, and those of
 * its scopes (from `$3` on) still number `$6`: no limit was added meanwhile.
 */
const asRead = (condition: string) => `l as materialized (
     select t.id, ${next.map(name => `r.${name}`).join(', ')}
       from providers.spend_limits t join (select * from jsonb_to_recordset($1::jsonb) as r (${changeTypes}) limit $2) r on t.id = r.id
      where ${condition} and ${compared.map(name => `t.${name} = r.${name}`).join(' and ')}
      order by t.id for no key update of t),
   ok as materialized (select ${condition} and (select count(*) from l) = $2 and (select count(*) from ${limitsAt(3)}) = $6 as ok),
   figures as (
     update providers.spend_limits t set ${figures.map((name, at) => `${columnOf(name)} = l.${next[at]}`).join(', ')} from l where t.id = l.id and (select ok from ok))`
const beginIf = lockingStatement(
  `with ${asRead('true')},
   begun as (insert into providers.calls (${columns}) select ${names.map((name, at) => `$${7 + at}::${typeOf(name)}`).join(', ')} where (select ok from ok))
   select ok from ok`,
)
/**
 * And if the ending call (`$7`, `$8`) still runs unchanged. It is found by its key alone: with its state, PostgreSQL
 * would use an index of failed calls.
 */
const endIf = lockingStatement(
  `with own as materialized (
     select c.status = 'RUNNING' and not c.has_new_limit as runs from providers.calls c where c.organization_id = $7::uuid and c.id = $8::uuid for no key update),
   ${asRead('coalesce((select runs from own), false)')},
   ended as (
     update providers.calls c set ${endNames.map((name, at) => `${columnOf(name)} = $${9 + at}::${typeOf(name)}`).join(', ')}
      where c.organization_id = $7::uuid and c.id = $8::uuid and (select ok from ok))
   select ok from ok`,
)
const readLimits = statement(
  `select ${selectList(spendLimits, 't')} from providers.spend_limits t where t.id in (select l.id from ${limitsAt(2)} union all select unnest($1::uuid[]))`,
)
const booksLock = sharedTransactionLock('providers.spend_books')
const expiredCalls = statement(`select organization_id as "organizationId", id from providers.calls where expires_at < $1 order by expires_at limit $2`)
const pendingCalls = statement(`select organization_id as "organizationId", id from providers.calls where pending_until < $1 order by pending_until limit $2`)

const limitsThatWait = statement(
  `select ${selectList(spendLimits, 't')} from providers.spend_limits t
    where not t.is_counted or (t.attention is not null or t.alerts <> '[]') and t.since < case t.period when 'DAY' then $1::timestamptz when 'MONTH' then $2::timestamptz end limit $3`,
)
const forgetPrompts = statement(
  `update providers.calls set prompt = null, prompt_until = null where (organization_id, id) in (
     select organization_id, id from providers.calls where prompt_until < $1 order by prompt_until limit $2 for no key update skip locked)`,
)

/** Converts a value to SQL: amounts as digits. */
function boundOf(row: object, name: string): unknown {
  const value = (row as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'bigint' ? `${value}` : (value ?? (written.includes(name) ? [] : null))
}
/** Creates the function that converts rows to records for SQL, with columns by name. */
function recorder(attributes: readonly string[]) {
  const named = attributes.map(name => [name, columnOf(name)] as const)
  return (rowsOf: readonly object[]): string =>
    JSON.stringify(rowsOf.map(row => Object.fromEntries(named.map(([name, column]) => [column, boundOf(row, name)]))))
}
/** Converts one row to values that are bound one by one. */
const valuesOf = (row: object, attributes: readonly string[]): readonly unknown[] =>
  attributes.map(name => (written.includes(name) ? JSON.stringify(boundOf(row, name)) : boundOf(row, name)))
const callRecords: (made: readonly CallRow[]) => string = recorder(names)
const endRecords: (ended: readonly CallChange[]) => string = recorder(['organizationId', 'id', ...endNames])
const figureRecords: (limits: readonly SpendLimitRow[]) => string = recorder(['id', ...figures])

/** Written out, because each call runs it twice: computed keys would take as long as the rules. */
const changeRecord = ({ before, after }: OneDecided['changes'][number]): ChangeRecord => ({
  id: before.id,
  version: before.version,
  since: before.since,
  spent_micros: `${before.spentMicros}`,
  reserved_micros: `${before.reservedMicros}`,
  overdrawn_micros: `${before.overdrawnMicros}`,
  is_counted: before.isCounted,
  next_since: after.since,
  next_spent_micros: `${after.spentMicros}`,
  next_reserved_micros: `${after.reservedMicros}`,
  next_overdrawn_micros: `${after.overdrawnMicros}`,
  next_is_counted: after.isCounted,
  next_alerts: after.alerts,
  next_attention: after.attention,
})

/** The result of one entry: a call that begins or ends. */
export type OneDecided = {
  readonly changes: readonly { readonly before: SpendLimitRow; readonly after: SpendLimitRow }[]
  /** Scopes of its limits. */
  readonly places: readonly Place[]
  /** Number of limits in these scopes, as they were read. */
  readonly applying: number
} & ({ readonly begun: CallRow; readonly ended?: undefined } | { readonly begun?: undefined; readonly ended: CallChange })

/**
 * The statements that keep calls and limits consistent. A transaction that locks both locks calls first, each in the
 * order of ids.
 */
export const books = {
  /** Writes a call without applicable limits. @returns false, without a change, when a limit applies */
  async insertFree(sequelize: Sequelize, call: CallRow, places: readonly Place[], transaction?: Transaction): Promise<boolean> {
    return (await rows(sequelize, insertFree, [callRecords([call]), ...ofPlaces(places)], transaction)).length > 0
  },

  /**
   * Ends a running call without reservations and without cost in any limit. @returns false, without a change, for any
   * other call
   */
  async endFree(sequelize: Sequelize, ended: CallChange, places: readonly Place[]): Promise<boolean> {
    return (await rows(sequelize, endFree, [endRecords([ended]), ...ofPlaces(places)])).length > 0
  },

  /** Locks calls that run, that expired while running, or that have ended and still hold a reservation. */
  lockCalls: (sequelize: Sequelize, keys: readonly Pick<CallRow, 'organizationId' | 'id'>[], transaction: Transaction): Promise<CallRow[]> =>
    rows(sequelize, lockCalls, [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id)], transaction),

  /** Locks the limits of scopes, and those with these ids. */
  lockLimits: (sequelize: Sequelize, ids: readonly string[], places: readonly Place[], transaction: Transaction): Promise<SpendLimitRow[]> =>
    rows(sequelize, lockLimits, [ids, ...ofPlaces(places)], transaction),

  /** Returns the limits of scopes, and those with these ids, in their present state. */
  readLimits: (sequelize: Sequelize, ids: readonly string[], places: readonly Place[]): Promise<SpendLimitRow[]> =>
    rows(sequelize, readLimits, [ids, ...ofPlaces(places)]),

  /**
   * Writes the result of one entry, unless a limit was changed or added since it was read, or the ending call has
   * ended. @returns whether it was written
   */
  async writeIf(sequelize: Sequelize, { changes, begun, ended, places, applying }: OneDecided): Promise<boolean> {
    const values = [JSON.stringify(changes.map(changeRecord)), changes.length, ...ofPlaces(places), applying]
    const [written] = ended
      ? await rows<{ ok: boolean }>(sequelize, endIf, [...values, ended.organizationId, ended.id, ...valuesOf(ended, endNames)])
      : await rows<{ ok: boolean }>(sequelize, beginIf, [...values, ...valuesOf(begun, names)])
    return written?.ok === true
  },

  /** Writes the figures of locked limits, new calls, and the changes of locked calls, in one statement. */
  async write(
    sequelize: Sequelize,
    { limits, begun, ended }: { readonly limits: readonly SpendLimitRow[]; readonly begun: readonly CallRow[]; readonly ended: readonly CallChange[] },
    transaction: Transaction,
  ): Promise<void> {
    await rows(sequelize, writeBooks, [figureRecords(limits), callRecords(begun), endRecords(ended), limits.length, ended.length], transaction)
  },

  /**
   * Locks the organization's usage: a count of its spending waits until this transaction ends, and this transaction
   * waits for a running count.
   */
  async share(sequelize: Sequelize, organizationId: string, transaction: Transaction): Promise<void> {
    await rows(sequelize, booksLock.share, [[organizationId, platformOwner]], transaction)
  },

  /** Returns limits whose managers wait for the end of the period, and limits whose figures are incomplete. */
  waiting: (sequelize: Sequelize, now: Date, most: number): Promise<SpendLimitRow[]> =>
    rows(sequelize, limitsThatWait, [sinceOf('DAY', now, now), sinceOf('MONTH', now, now), most]),

  /** Deletes prompts after their retention. */
  async forgetPrompts(sequelize: Sequelize, now: Date, most: number): Promise<void> {
    await rows(sequelize, forgetPrompts, [now, most])
  },

  /** Returns calls that were not ended in time. */
  expired: (sequelize: Sequelize, now: Date, most: number): Promise<Pick<CallRow, 'organizationId' | 'id'>[]> => rows(sequelize, expiredCalls, [now, most]),

  /** Returns ended calls with a reservation that has expired. */
  pending: (sequelize: Sequelize, now: Date, most: number): Promise<Pick<CallRow, 'organizationId' | 'id'>[]> => rows(sequelize, pendingCalls, [now, most]),
}

/**
 * SQL conditions under which calls `c` count in a limit, in any period; `$1` is the organization's id, `$2` the scope's
 * value.
 */
const inScope: Readonly<Record<SpendScopeType, string>> = {
  PLATFORM: '$2::text is not null',
  ORGANIZATION: 'c.organization_id = $2::uuid',
  APP: 'c.app_id = $2',
  USER: 'c.user_id = $2::uuid',
  PROVIDER_FAMILY: 'c.family = upper($2)',
  MODEL: 'c.model = $2',
  PLATFORM_CREDENTIALS: 'c.organization_id = $2::uuid',
}

/** Sums the booked amounts of unanswered attempts of a call `c`. */
const unanswered = (condition: string) => `(select coalesce(sum((a ->> 'costMicros')::bigint), 0) from jsonb_array_elements(c.attempts) a where ${condition})`

/** Builds the expression for the cost of a call `c` in a scope, as `costIn` of the rules defines it. */
const costIn = (type: SpendScopeType): string =>
  type === 'PLATFORM_CREDENTIALS'
    ? 'c.platform_micros'
    : type === 'MODEL'
      ? `case when c.model = $2 then c.cost_micros - ${unanswered('true')} else 0 end + ${unanswered(`a ->> 'model' = $2`)}`
      : 'c.cost_micros'

/** Builds the statements that count the calls of a scope, for each scope type and level. */
function counting(type: SpendScopeType, owner: string): { readonly mark: Statement; readonly sum: Statement } {
  // A running call has no model yet.
  const running = type === 'MODEL' ? '$2::text is not null' : inScope[type]
  const counted = type === 'MODEL' ? `(${inScope.MODEL} or c.attempts @> jsonb_build_array(jsonb_build_object('model', $2::text)))` : inScope[type]
  return {
    // Locks in the order that all other code uses for calls.
    mark: statement(
      `with k as (
         select c.organization_id, c.id from providers.calls c where c.expires_at is not null and ${owner} and ${running} order by c.id for no key update)
       update providers.calls c set has_new_limit = true from k where c.organization_id = k.organization_id and c.id = k.id`,
    ),
    sum: statement(`select coalesce(sum(${costIn(type)}), 0)::bigint as spent from providers.calls c where ${owner} and ${counted} and c.created_at >= $3`),
  }
}
const everyType = Object.keys(inScope) as SpendScopeType[]
const ofOrganization = Object.fromEntries(everyType.map(type => [type, counting(type, 'c.organization_id = $1')]))
const ofPlatform = Object.fromEntries(everyType.map(type => [type, counting(type, '$1::uuid is null')]))

type Counting = Pick<SpendLimitRow, 'organizationId' | 'scopeType' | 'scopeValue' | 'since'>
const countingOf = ({ organizationId, scopeType }: Counting) => (organizationId === null ? ofPlatform : ofOrganization)[scopeType]!

/** The statements that add the spending before a limit's creation to its figures. */
export const counts = {
  /** Returns the cost of the scope's calls in the period. */
  async spent(sequelize: Sequelize, limit: Counting, transaction: Transaction): Promise<bigint> {
    const [found] = await rows<{ spent: bigint }>(sequelize, countingOf(limit).sum, [limit.organizationId, limit.scopeValue, limit.since], transaction)
    return found!.spent
  },

  /**
   * Marks every running call of the scope to look up limits again when it ends, and waits for calls that are ending.
   */
  async mark(sequelize: Sequelize, limit: Counting, transaction: Transaction): Promise<void> {
    const ofOne = limit.scopeType === 'PLATFORM_CREDENTIALS' ? limit.scopeValue : limit.organizationId
    await rows(sequelize, booksLock.close, [ofOne ?? platformOwner], transaction)
    await rows(sequelize, countingOf(limit).mark, [limit.organizationId, limit.scopeValue], transaction)
  },
}

/**
 * Returns the scopes in which a call's limits are looked up. @param isOnPlatform whether any of it is paid with the
 * platform's credentials
 */
export const placesOf = (
  call: Pick<CallRow, 'organizationId' | 'appId' | 'userId' | 'family'>,
  models: readonly (string | null)[],
  isOnPlatform: boolean,
): readonly Place[] => {
  const named = new Set(models.filter(model => model !== null))
  const funding = isOnPlatform ? [scopeOfPlatformCredentials(call.organizationId)] : []
  return [...scopesOf(call), ...funding, ...[...named].map(value => ({ type: 'MODEL' as const, value }))].map(scope => ({
    ...scope,
    organizationId: call.organizationId,
  }))
}
