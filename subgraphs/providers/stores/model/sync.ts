import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { Writing } from '../../../store/books.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { NewModel } from './model.ts'

export type SourceKind = 'PROVIDER_API' | 'OPEN_CATALOG'
export type SourceStatus = 'HEALTHY' | 'FAILING' | 'NEVER'

/** Sources of models. */
export const modelSources = table('providers.model_sources', {
  id: uuid.key,
  name: text,
  kind: text.of<SourceKind>(),
  status: text.of<SourceStatus>().or('NEVER'),
  lastAttemptAt: moment.maybe,
  lastSuccessAt: moment.maybe,
  failure: text.maybe,
  models: integer.or(0),
})

export type SourceRow = Row<typeof modelSources>

/** State of a source at the end of a run; times are text. */
export type SourceThen = Omit<{ readonly [Name in keyof SourceRow]: SourceRow[Name] extends Date | null ? string | null : SourceRow[Name] }, 'id'>

/** Runs that read the model sources. */
export const modelSyncs = table('providers.model_syncs', {
  id: uuid.key,
  startedAt: moment,
  /** Time at which the run counts as ended: an unfinished run was left by a process that died. */
  endsBy: moment,
  finishedAt: moment.maybe,
  sources: json.of<readonly SourceThen[]>().or([]),
  added: integer.or(0),
  changed: integer.or(0),
  retired: integer.or(0),
})

export type ModelSyncRow = Row<typeof modelSyncs>

/** The result of reading one source. */
export interface Attempted {
  readonly name: string
  readonly kind: SourceKind
  readonly at: Date
  /** Number of the source's models; null when it failed or could not be reached. */
  readonly models: number | null
  readonly failure: string | null
  /** False when no credential was configured: the source's status stays then. */
  readonly wasAsked: boolean
}

const shown = selectList(modelSyncs, 's')
const abandon = statement('update providers.model_syncs set finished_at = $1 where finished_at is null and ends_by <= $1')
const begin = statement(`insert into providers.model_syncs (id, started_at, ends_by) values ($1, $2, $3) on conflict do nothing returning id`)
const running = statement(`select ${shown} from providers.model_syncs s where s.finished_at is null`)
const latest = statement(`select ${shown} from providers.model_syncs s where s.finished_at is not null order by s.started_at desc limit 1`)
const byId = statement(`select ${shown} from providers.model_syncs s where s.id = $1`)
const finish = statement(
  `update providers.model_syncs set finished_at = $2, sources = $3::jsonb, added = $4, changed = $5, retired = $6 where id = $1 and finished_at is null returning id`,
)
const attempted = statement(
  `insert into providers.model_sources (id, name, kind, status, last_attempt_at, last_success_at, failure, models)
   values ($1, $2, $3, case when not $7 then 'NEVER' when $5::int is null then 'FAILING' else 'HEALTHY' end, case when $7 then $4::timestamptz end,
     case when $5::int is not null then $4::timestamptz end, $6, coalesce($5::int, 0))
   on conflict (name) do update set
     status = case when not $7 then case when model_sources.last_success_at is null then 'NEVER' else 'FAILING' end else excluded.status end,
     last_attempt_at = coalesce(excluded.last_attempt_at, model_sources.last_attempt_at),
     last_success_at = coalesce(excluded.last_success_at, model_sources.last_success_at),
     failure = excluded.failure,
     models = coalesce($5::int, model_sources.models)`,
)
const sources = statement(`select ${selectList(modelSources, 's')} from providers.model_sources s order by s.name limit 10`)
/**
 * Updates a known model: new values, and the former ones where the source has none. A model's lifecycle only moves
 * towards its end, and a price of zero is ignored where there was one.
 */
const merged: Readonly<Record<string, string>> = {
  lifecycle: `case when m.lifecycle = 'ACTIVE' then excluded.lifecycle else m.lifecycle end`,
  released_at: 'coalesce(excluded.released_at, m.released_at)',
  deprecated_at: 'coalesce(excluded.deprecated_at, m.deprecated_at)',
  retires_at: 'coalesce(excluded.retires_at, m.retires_at)',
  replacement: 'coalesce(excluded.replacement, m.replacement)',
  context_tokens: 'coalesce(excluded.context_tokens, m.context_tokens)',
  max_output_tokens: 'coalesce(excluded.max_output_tokens, m.max_output_tokens)',
  ...Object.fromEntries(
    ['input_micros_per_million', 'output_micros_per_million', 'cache_read_micros_per_million', 'cache_write_micros_per_million'].map(price => [
      price,
      `case when excluded.${price} = 0 and m.${price} > 0 then m.${price} else coalesce(excluded.${price}, m.${price}) end`,
    ]),
  ),
}
const merge = statement(
  `insert into providers.models as m (id, name, provider, capability, lifecycle, released_at, deprecated_at, retires_at, replacement, context_tokens, max_output_tokens,
     input_micros_per_million, output_micros_per_million, cache_read_micros_per_million, cache_write_micros_per_million, first_seen_at, seen_at, created_at, updated_at, created_by)
   select n.id, n.name, split_part(n.name, '/', 1), n.capability, coalesce(n.lifecycle, 'ACTIVE'), n."releasedAt", n."deprecatedAt", n."retiresAt", n.replacement,
     n."contextTokens", n."maxOutputTokens", n."inputMicrosPerMillion", n."outputMicrosPerMillion",
     n."cacheReadMicrosPerMillion", n."cacheWriteMicrosPerMillion", $2, $2, $2, $2, 'system:sources'
   from jsonb_to_recordset($1::jsonb) as n(id uuid, name text, capability text, lifecycle text, "releasedAt" timestamptz, "deprecatedAt" timestamptz, "retiresAt" timestamptz, replacement text,
     "contextTokens" integer, "maxOutputTokens" integer, "inputMicrosPerMillion" bigint, "outputMicrosPerMillion" bigint,
     "cacheReadMicrosPerMillion" bigint, "cacheWriteMicrosPerMillion" bigint)
   on conflict (name) do update set ${Object.entries(merged)
     .map(([column, value]) => `${column} = ${value}`)
     .join(', ')}, updated_at = $2, version = m.version + 1
   where (${Object.keys(merged)
     .map(column => `m.${column}`)
     .join(', ')}) is distinct from (${Object.values(merged).join(', ')})
   returning id = any(array(select (each ->> 'id')::uuid from jsonb_array_elements($1::jsonb) each)) as "isNew"`,
)
const noteEnds = statement(`update providers.models set deprecated_at = $1 where lifecycle <> 'ACTIVE' and deprecated_at is null`)
const seen = statement('update providers.models set seen_at = $2 where name = any($1::text[])')
const retire = statement(
  `update providers.models set lifecycle = 'RETIRED', updated_at = $1, version = version + 1 where retires_at <= $1 and lifecycle <> 'RETIRED' returning id`,
)
const forget = statement('delete from providers.models where not configured and coalesce(seen_at, first_seen_at) < $1')

function syncSql(rows: Rows<typeof modelSyncs>) {
  const one = async (wanted: Parameters<typeof rows.read>[0], values: readonly unknown[]): Promise<ModelSyncRow | null> =>
    (await rows.read<ModelSyncRow>(wanted, values))[0] ?? null
  return {
    /**
     * Begins a run unless one is in progress; an overdue run counts as ended. @returns its id; null when another run is
     * in progress
     */
    async begin(now: Date, endsBy: Date): Promise<string | null> {
      await rows.read(abandon, [now])
      const [begun] = await rows.read<{ id: string }>(begin, [newId(now), now, endsBy])
      return begun?.id ?? null
    },
    running: () => one(running, []),
    latest: () => one(latest, []),
    /** Returns the state of a run. */
    runOf: (id: string) => one(byId, [id]),
    sources: (transaction?: Transaction) => rows.read<SourceRow>(sources, [], transaction),

    /** Records the result of reading a source. */
    attempted: async (id: string, { name, kind, at, models, failure, wasAsked }: Attempted, transaction: Transaction) =>
      void (await rows.read(attempted, [id, name, kind, at, models, failure, wasAsked], transaction)),

    /** Writes the models that a source lists. */
    async merge(told: readonly NewModel[], now: Date, transaction: Transaction): Promise<{ readonly added: number; readonly changed: number }> {
      const given = JSON.stringify(told.map(model => ({ ...model, id: newId(now) })))
      const written = await rows.read<{ isNew: boolean }>(merge, [given, now], transaction)
      await rows.read(noteEnds, [now], transaction)
      await rows.read(seen, [told.map(({ name }) => name), now], transaction)
      const added = written.filter(({ isNew }) => isNew).length
      return { added, changed: written.length - added }
    },

    /** Ends models whose retirement date has passed. @returns their number */
    retire: async (now: Date, transaction: Transaction) => (await rows.read(retire, [now], transaction)).length,

    /** Deletes candidates that no source has listed since a moment. */
    forget: async (since: Date, transaction: Transaction) => void (await rows.read(forget, [since], transaction)),

    /** Ends a run. @returns false when it has ended already */
    async finish(
      id: string,
      now: Date,
      { added, changed, retired, sources: then }: Pick<ModelSyncRow, 'added' | 'changed' | 'retired' | 'sources'>,
      transaction: Transaction,
    ): Promise<boolean> {
      return (await rows.read(finish, [id, now, JSON.stringify(then), added, changed, retired], transaction)).length > 0
    },
  }
}

const tenancy = { everybody: 'sources of models, and runs of asking them, are the platform’s' }

export const modelSyncStore = store(modelSyncs, { what: 'run of model sources', tenancy }, syncSql)
/** Written by runs only; declared for the comparison with the database. */
export const modelSourceStore = store(modelSources, { what: 'source of models', tenancy })

/** Runs that read the model sources. */
export interface ModelSyncs {
  /**
   * Reads the sources, unless a run is in progress: then its result is returned.
   * @param context the author of the writes
   * @param sources names of sources; null for all of them
   * @param tenantId organization whose audit log records the run; null for none
   * @throws BAD_USER_INPUT for an unknown source
   */
  run(context: Writing, sources: readonly string[] | null, tenantId: string | null): Promise<ModelSyncRow>
}
