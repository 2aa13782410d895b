import type { Sequelize } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { OrganizationRules } from '../administration/organization.ts'
import type { KnownRest } from './rests.ts'
import { type SetModels, settingsOf } from './settings.ts'

/** Present state for the calls of an organization: with several processes, none knows it without the database. */
export interface Standing {
  /** Settings of the organization and of the platform. */
  readonly settings: readonly SetModels[]
  /**
   * Cooldowns of the models that may answer, with any credential: the caller's own, and those of other organizations
   * that decide whether a cooldown is shared.
   */
  readonly rests: readonly KnownRest[]
  /** Fingerprint of the state of the organization's usable credentials. */
  readonly credentials: string
  /** Fingerprint of the state of the models. */
  readonly models: string
  /** Null when the organization has no record yet. */
  readonly rules: OrganizationRules | null
}

/** @param names full names that the requested name may stand for; none for the preferred model */
export type ReadStanding = (organizationId: string, names: readonly string[]) => Promise<Standing>

const standing = statement(
  `with s as materialized (${settingsOf}),
     c as materialized (select id, version from providers.credentials where organization_id = $1 or organization_id is null),
     n as (select unnest($2::text[]) as model union select preference from s union select unnest(chain) from s),
     -- The caller's own, and of other organizations those two that rest longest: as many as decide whether everybody rests.
     r as (select * from (
       select *, row_number() over (partition by credential_id, model, organization_id = $1 order by until desc nulls last) as place
         from providers.candidate_rests
        where credential_id in (select id from c) and model in (select model from n) and over_at > $3) placed
      where organization_id = $1 or place <= 2 and until > $3)
   select (select coalesce(json_agg(s), '[]') from s) as settings,
     (select coalesce(json_agg(json_build_object('credentialId', r.credential_id, 'model', r.model, 'organizationId', r.organization_id, 'until', extract(epoch from r.until) * 1000, 'isLimit', r.is_limit)), '[]')
        from r) as rests,
     (select coalesce(sum(hashtextextended(id::text, version)), 0)::text from c) as credentials,
     (select coalesce(sum(hashtextextended(name, version)), 0)::text from providers.models where configured) as models,
     (select json_build_object('status', o.status, 'promptStorage', o.prompt_storage, 'retentionDays', o.retention_days)
        from providers.organizations o where o.organization_id = $1) as rules`,
)

/** Reads it in one statement. */
export async function readStanding(sequelize: Sequelize, organizationId: string, names: readonly string[], now: Date): Promise<Standing> {
  const [found] = await rows<Standing>(sequelize, standing, [organizationId, names, now])
  return found!
}
