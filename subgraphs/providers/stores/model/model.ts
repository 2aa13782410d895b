import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, truth, uuid, whole } from '../../../../platform/sql/table.ts'
import { type FilterSql, oldestFirst } from '../../../store/filter/filters.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'

/** Capability of a model. */
export type Capability = 'CHAT' | 'IMAGE' | 'TRANSCRIPTION' | 'EMBEDDING'

/**
 * What one image of a quality and a size costs, in whole micro-US-dollars. Those with which the catalogue begins
 * (`db/migrations/providers/0018_models_shown.sql`) were compared on 2026-11-26 with stored copies of these pages:
 *
 * - `openai/gpt-image-1-mini`: https://developers.openai.com/api/docs/models/gpt-image-1-mini, "Image generation, per image". Equal but for a
 *   square of medium quality, which OpenAI lists at 11,000; 10,000 is the contract's price of one image.
 * - `openai/gpt-image-1`: not verified at OpenAI, of whose page no copy was to be had; the model was shut down on 2026-10-23
 *   (https://developers.openai.com/api/reference/resources/images/methods/generate). Resellers who passed its prices on have the same
 *   (https://fal.ai/models/fal-ai/gpt-image-1/text-to-image/llms.txt) but for a square of medium quality: 42,000, where 40,000 is the contract's.
 */
export interface ImagePrice {
  readonly quality: string
  readonly size: string
  readonly micros: number
}

export type Lifecycle = 'ACTIVE' | 'DEPRECATED' | 'RETIRED'

/** Every known model: those that may be called, and further ones of sources. */
export const models = table('providers.models', {
  id: uuid.key,
  /** Full name: `openai/gpt-5-mini`. */
  name: text,
  provider: text,
  capability: text.of<Capability>(),
  /** Whether the platform allows it; the others are candidates. */
  configured: truth.or(false),
  lifecycle: text.of<Lifecycle>().or('ACTIVE'),
  deprecatedAt: moment.maybe,
  retiresAt: moment.maybe,
  /** A name. */
  replacement: text.maybe,
  contextTokens: integer.maybe,
  maxOutputTokens: integer.maybe,
  inputMicrosPerMillion: whole.maybe,
  cacheReadMicrosPerMillion: whole.maybe,
  cacheWriteMicrosPerMillion: whole.maybe,
  outputMicrosPerMillion: whole.maybe,
  imageMicros: whole.maybe,
  imagePrices: json.of<readonly ImagePrice[]>().or([]),
  minuteMicros: whole.maybe,
  firstSeenAt: moment,
  /** Release by its provider; null if no source says. */
  releasedAt: moment.maybe,
  /** When a source last listed it; null for never. */
  seenAt: moment.maybe,
  ...stamps,
})

export type AiModelRow = Row<typeof models>

/** Returns the present lifecycle: a retirement date in the past takes effect at once. */
export const lifecycleOf = ({ lifecycle, retiresAt }: Pick<AiModelRow, 'lifecycle' | 'retiresAt'>, now: Date): Lifecycle =>
  retiresAt !== null && retiresAt <= now ? 'RETIRED' : lifecycle === 'RETIRED' && retiresAt !== null ? 'DEPRECATED' : lifecycle

const columns = selectList(models, 'm')

/** Condition for models in a lifecycle at a moment, as by `lifecycleOf`. */
const isAt = (lifecycle: Lifecycle, { bind, now }: FilterSql): string =>
  `case when t.retires_at <= ${bind(now)}::timestamptz then 'RETIRED'
        when t.lifecycle = 'RETIRED' and t.retires_at is not null then 'DEPRECATED' else t.lifecycle end = ${bind(lifecycle)}`

const configured = statement(`select ${columns} from providers.models m where m.configured order by m.created_at, m.id limit 400`)
const notConfigured = statement(
  `select exists (select from providers.models m where not m.configured and (m.name = $1 or split_part(m.name, '/', 2) = $1)) as "is"`,
)

const insertMissing = statement(
  `insert into providers.models (id, name, provider, capability, configured, lifecycle, deprecated_at, retires_at, replacement, context_tokens, max_output_tokens,
     input_micros_per_million, output_micros_per_million, image_micros, minute_micros, first_seen_at, created_at, updated_at, created_by)
   select n.id, n.name, split_part(n.name, '/', 1), n.capability, $3, coalesce(n.lifecycle, 'ACTIVE'), n."deprecatedAt", n."retiresAt", n.replacement,
     n."contextTokens", n."maxOutputTokens", n."inputMicrosPerMillion", n."outputMicrosPerMillion", n."imageMicros", n."minuteMicros", $2, $2, $2, $4
   from jsonb_to_recordset($1::jsonb) as n(id uuid, name text, capability text, lifecycle text, "deprecatedAt" timestamptz, "retiresAt" timestamptz, replacement text,
     "contextTokens" integer, "maxOutputTokens" integer, "inputMicrosPerMillion" bigint, "outputMicrosPerMillion" bigint, "imageMicros" bigint, "minuteMicros" bigint)
   on conflict (name) do nothing returning name`,
)

/** Maximum shown candidates and used models. */
export const [mostCandidates, mostUsed] = [400, 100] as const

const named = statement(`select ${columns} from providers.models m where m.name = any($1::text[])`)
const configure = statement(
  `update providers.models set configured = not configured, updated_at = $3, version = version + 1
    where capability = $1 and configured <> (name = any($2::text[]))`,
)
const candidates = statement(
  `select name as model, provider, first_seen_at as "firstSeenAt" from providers.models where not configured order by first_seen_at desc, id limit ${mostCandidates}`,
)
const usage = statement(
  `select model, count(*)::int as calls, coalesce(sum(input_tokens), 0)::bigint as "inputTokens", coalesce(sum(output_tokens), 0)::bigint as "outputTokens",
     coalesce(sum(cost_micros), 0)::bigint as "costMicros"
   from providers.calls where organization_id = $1 and created_at > $2 and created_at <= $3 and family = 'AI' and model is not null
   group by model order by calls desc, model limit ${mostUsed}`,
)

/** The organization whose model governance is read; each part is read when it is selected. */
export interface ModelGovernanceRow {
  readonly organizationId: string | null
}

/** An organization's usage of a model. */
export interface ModelUsage {
  readonly model: string
  readonly calls: number
  readonly inputTokens: bigint
  readonly outputTokens: bigint
  readonly costMicros: bigint
}

/** A model from a source, with large integers and timestamps as text. */
export interface NewModel {
  readonly name: string
  readonly capability: Capability
  readonly lifecycle?: Lifecycle
  readonly releasedAt?: string
  readonly deprecatedAt?: string | null
  readonly retiresAt?: string | null
  readonly replacement?: string | null
  readonly contextTokens?: number | null
  readonly maxOutputTokens?: number | null
  readonly inputMicrosPerMillion?: string | null
  readonly cacheReadMicrosPerMillion?: string | null
  readonly cacheWriteMicrosPerMillion?: string | null
  readonly outputMicrosPerMillion?: string | null
  readonly imageMicros?: string | null
  readonly minuteMicros?: string | null
}

function modelSql(rows: Rows<typeof models>, { clock }: StoreContext) {
  return {
    /** Returns models that may be called, the oldest first. */
    configured: () => rows.read(configured, []),

    /** Returns models with these names. */
    named: (names: readonly string[], transaction?: Transaction) => rows.read(named, [names], transaction),

    /** Allows exactly these models of a capability. */
    configure: async (capability: Capability, names: readonly string[], now: Date, transaction: Transaction) =>
      void (await rows.read(configure, [capability, names, now], transaction)),

    /** Returns models of sources that may not be called, the latest first. */
    candidates: () => rows.read<{ model: string; provider: string; firstSeenAt: Date }>(candidates, []),

    /** Returns an organization's usage since a moment, by model. */
    usage: (organizationId: string, since: Date) => rows.read<ModelUsage>(usage, [organizationId, since, clock.now()]),

    /** Inserts missing models. @returns their names */
    async insertMissing(
      missing: readonly NewModel[],
      { now, by, configured }: { readonly now: Date; readonly by: string; readonly configured: boolean },
      transaction: Transaction,
    ): Promise<readonly string[]> {
      const given = JSON.stringify(missing.map(model => ({ ...model, id: newId(now) })))
      return (await rows.read<{ name: string }>(insertMissing, [given, now, configured, by], transaction)).map(({ name }) => name)
    },

    /** Whether sources list a model of this name, or last part, that may not be called. */
    async isCandidate(name: string): Promise<boolean> {
      const [found] = await rows.read<{ is: boolean }>(notConfigured, [name])
      return found!.is
    },
  }
}

/** Models are the same for every organization. */
export const modelStore = store(
  models,
  {
    what: 'model',
    tenancy: { everybody: 'which models there are is known to everybody who may call one' },
    filters: { capability: 'eq', lifecycle: isAt },
    sorted: oldestFirst,
  },
  modelSql,
)

export type OpenModels = ReturnType<typeof modelStore.open>
