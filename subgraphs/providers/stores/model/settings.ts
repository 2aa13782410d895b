import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, type Table, table, text, texts, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import type { Level } from '../credential/credential.ts'
import type { Capability } from './model.ts'

const whose = {
  id: uuid.key,
  level: text.of<Level>(),
  /** Organization; null for the platform's own. */
  organizationId: uuid.maybe,
  capability: text.of<Capability>(),
  /** For the platform's own: the organization in which they were last set, whose managers are notified. */
  tenantId: uuid.maybe,
} as const

/** The model for calls that name none, and the models that calls may name. */
export const modelPreferences = table('providers.model_preferences', {
  ...whose,
  model: text,
  /**
   * Names of allowed models; null for the platform's. The platform's own list contains all models that may be called.
   */
  allowedModels: texts.maybe,
  ...stamps,
})

/** Models to try after the first one fails. */
export const fallbackChains = table('providers.fallback_chains', { ...whose, models: texts, ...stamps })

export type PreferenceRow = Row<typeof modelPreferences>
export type ChainRow = Row<typeof fallbackChains>

/** Settings of an organization, or of the platform, for one capability. */
export interface SetModels {
  readonly organizationId: string | null
  readonly capability: Capability
  readonly preference: string | null
  readonly allowed: readonly string[] | null
  readonly chain: readonly string[] | null
}

/** Selects the settings of an organization (`$1`) and of the platform, as `SetModels`. */
export const settingsOf = `select coalesce(p.organization_id, c.organization_id) as "organizationId", coalesce(p.capability, c.capability) as capability,
     p.model as preference, p.allowed_models as allowed, c.models as chain
   from (select * from providers.model_preferences where organization_id = $1 or organization_id is null) p
   full join (select * from providers.fallback_chains where organization_id = $1 or organization_id is null) c
     on c.organization_id is not distinct from p.organization_id and c.capability = p.capability`
const ofOrganization = statement(settingsOf)

const lockOwner = transactionLock('providers.model_settings')
const settingOf = (table: Table) =>
  statement(`select ${selectList(table, 't')} from ${table.name} t where t.organization_id is not distinct from $1::uuid and t.capability = $2`)
const preferenceOf = settingOf(modelPreferences)
const chainOf = settingOf(fallbackChains)
/** Maximum number of organizations shown that prefer another model. */
export const mostOverrides = 200

const overrides = statement(
  `select capability, model, organization_id as "organizationId" from providers.model_preferences
    where organization_id is not null and ($1::uuid is null or organization_id = $1) order by created_at, id limit ${mostOverrides}`,
)
/** Settings of ending models whose organizations were not warned, and warnings that no longer apply. */
const warnings = statement(
  `with named as (
     select coalesce(organization_id, tenant_id) as organization_id, model from providers.model_preferences
     union select coalesce(organization_id, tenant_id), unnest(models) from providers.fallback_chains),
   due as (
     select n.organization_id, n.model from named n join providers.models m on m.name = n.model
      where m.lifecycle <> 'ACTIVE' and n.organization_id is not null and ($1::uuid is null or n.organization_id = $1)),
   told as (select organization_id, model from providers.model_warnings where $1::uuid is null or organization_id = $1)
   select coalesce(d.organization_id, t.organization_id) as "organizationId", coalesce(d.model, t.model) as model, t.model is null as "isNew", m.retires_at as "retiresAt", m.replacement
     from due d full join told t on t.organization_id = d.organization_id and t.model = d.model
     left join providers.models m on m.name = d.model
    where d.model is null or t.model is null order by 1, 2 limit 500`,
)
const warn = statement('insert into providers.model_warnings (organization_id, model, since) select * from unnest($1::uuid[], $2::text[], $3::timestamptz[])')
const unwarn = statement(
  'delete from providers.model_warnings w using unnest($1::uuid[], $2::text[]) as g(organization_id, model) where w.organization_id = g.organization_id and w.model = g.model',
)

/** An organization that has set an ending model and was not warned, or was warned and is no longer concerned. */
export interface Warning {
  readonly organizationId: string
  readonly model: string
  readonly isNew: boolean
  readonly retiresAt: Date | null
  readonly replacement: string | null
}

const allow = statement(
  `update providers.model_preferences set updated_at = $3, version = version + 1,
     allowed_models = allowed_models || array(select name from unnest($2::text[]) name where not name = any(allowed_models))
   where organization_id is null and capability = $1`,
)

const tenancy = { where: 't.organization_id = :organization or t.organization_id is null' }

function preferenceSql(rows: Rows<typeof modelPreferences>, _: StoreContext) {
  return {
    /**
     * Returns the settings of an organization and of the platform for every capability. @param organizationId null for
     * the platform's only
     */
    settings: (organizationId: string | null) => rows.read<SetModels>(ofOrganization, [organizationId]),

    /** Returns and locks an owner's setting of a capability until the transaction ends. */
    async lockSetting(organizationId: string | null, capability: Capability, transaction: Transaction): Promise<PreferenceRow | null> {
      await rows.read(lockOwner, [`${organizationId} ${capability}`], transaction)
      const [found] = await rows.read<PreferenceRow>(preferenceOf, [organizationId, capability], transaction)
      return found ?? null
    },

    /**
     * Returns the settings of organizations that prefer another model: of one organization, or the first two hundred.
     */
    overrides: (organizationId: string | null) => rows.read<{ capability: Capability; model: string; organizationId: string }>(overrides, [organizationId]),

    /**
     * Returns organizations to be warned that a model ends, and those whose warning is obsolete, at most 500 at once,
     * and records that they were notified. @param organizationId null for all organizations
     */
    async takeWarnings(organizationId: string | null, now: Date, transaction: Transaction): Promise<readonly Warning[]> {
      if (organizationId === null) await rows.read(lockOwner, ['warnings'], transaction)
      const found = await rows.read<Warning>(warnings, [organizationId], transaction)
      const [fresh, over] = [found.filter(({ isNew }) => isNew), found.filter(({ isNew }) => !isNew)]
      const places = (of: readonly Warning[]) => [of.map(each => each.organizationId), of.map(({ model }) => model)]
      if (fresh.length > 0) await rows.read(warn, [...places(fresh), fresh.map(() => now)], transaction)
      if (over.length > 0) await rows.read(unwarn, places(over), transaction)
      return found
    },

    /** Adds models to the platform's allowed ones. */
    allow: async (capability: Capability, names: readonly string[], now: Date, transaction: Transaction) =>
      void (await rows.read(allow, [capability, names, now], transaction)),
  }
}

function chainSql(rows: Rows<typeof fallbackChains>, _: StoreContext) {
  return {
    /** Returns and locks the chain that an owner has set for a capability until the transaction ends. */
    async lockSetting(organizationId: string | null, capability: Capability, transaction: Transaction): Promise<ChainRow | null> {
      await rows.read(lockOwner, [`${organizationId} ${capability}`], transaction)
      const [found] = await rows.read<ChainRow>(chainOf, [organizationId, capability], transaction)
      return found ?? null
    },
  }
}

/** An organization sees its own settings, and the platform's, which apply by default. */
export const modelPreferenceStore = store(modelPreferences, { what: 'model preference', tenancy }, preferenceSql)
export const fallbackChainStore = store(fallbackChains, { what: 'fallback chain', tenancy }, chainSql)

export type OpenModelPreferences = ReturnType<typeof modelPreferenceStore.open>
