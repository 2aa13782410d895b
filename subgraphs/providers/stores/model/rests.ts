import type { Sequelize } from 'sequelize'
import { lockingStatement, rows } from '../../../../platform/sql/statement.ts'

/** A candidate, and the organization of the failed calls. */
export interface RestKey {
  readonly credentialId: string
  readonly model: string
  readonly organizationId: string
}

/** A candidate's cooldown for an organization, shared by every process. */
export interface KnownRest extends RestKey {
  /** End in ms; null: recent failures without a cooldown. */
  readonly until: number | null
  readonly isLimit: boolean
}

const columns = `credential_id as "credentialId", model, organization_id as "organizationId", (extract(epoch from until) * 1000)::float8 as until, is_limit as "isLimit"`

/** A shorter cooldown does not end a longer one: a call that began earlier may fail later. */
const limited = lockingStatement(
  `insert into providers.candidate_rests as r (credential_id, model, organization_id, until, is_limit, failures, over_at) values ($1, $2, $3, $4, true, 0, $4)
   on conflict (credential_id, model, organization_id) do update set
     is_limit = r.until is null or r.until <= excluded.until or r.is_limit, until = greatest(r.until, excluded.until), failures = 0, failing_since = null,
     over_at = greatest(r.over_at, excluded.over_at)
   returning ${columns}`,
)
const failed = lockingStatement(
  `insert into providers.candidate_rests as r (credential_id, model, organization_id, is_limit, failures, failing_since, over_at)
   values ($1, $2, $3, false, 1, $4::timestamptz, $4::timestamptz + $6::int * interval '1 ms')
   on conflict (credential_id, model, organization_id) do update set (until, is_limit, failures, failing_since, over_at) = (
     select case when n >= $5 then greatest(r.until, $4::timestamptz + $7::int * interval '1 ms') else r.until end,
            r.is_limit and (n < $5 or r.until > $4::timestamptz + $7::int * interval '1 ms'),
            case when n >= $5 then 0 else n end,
            case when n >= $5 then null when n = 1 then $4::timestamptz else r.failing_since end,
            greatest(r.over_at, $4::timestamptz + case when n >= $5 then $7::int else $6::int end * interval '1 ms')
       from (select case when r.failures > 0 and r.failing_since > $4::timestamptz - $6::int * interval '1 ms' then r.failures + 1 else 1 end as n) counted)
   returning ${columns}`,
)
const worked = lockingStatement('delete from providers.candidate_rests where credential_id = $1 and model = $2 and organization_id = $3')
const over = lockingStatement(
  `delete from providers.candidate_rests r
    using (select credential_id, model, organization_id from providers.candidate_rests where over_at <= $1 order by over_at limit $2 for update skip locked) o
    where r.credential_id = o.credential_id and r.model = o.model and r.organization_id = o.organization_id`,
)

/**
 * Number of failures in a row that cause a cooldown, the period in which they count, and the cooldown's length, in ms.
 */
export interface Patience {
  readonly inARow: number
  readonly withinMs: number
  readonly restMs: number
}

/** Maximum number of ended cooldowns that are deleted at once. */
const mostOver = 5_000

/** The statements by which processes share cooldowns of candidates. Each returns the candidate's resulting state. */
export const rests = {
  async limited(sequelize: Sequelize, { credentialId, model, organizationId }: RestKey, until: Date): Promise<KnownRest> {
    return (await rows<KnownRest>(sequelize, limited, [credentialId, model, organizationId, until]))[0]!
  },
  async failed(sequelize: Sequelize, { credentialId, model, organizationId }: RestKey, now: Date, { inARow, withinMs, restMs }: Patience): Promise<KnownRest> {
    return (await rows<KnownRest>(sequelize, failed, [credentialId, model, organizationId, now, inARow, withinMs, restMs]))[0]!
  },
  async worked(sequelize: Sequelize, { credentialId, model, organizationId }: RestKey): Promise<void> {
    await rows(sequelize, worked, [credentialId, model, organizationId])
  },
  /** Deletes cooldowns and failures that no longer count. */
  async forget(sequelize: Sequelize, now: Date): Promise<void> {
    await rows(sequelize, over, [now, mostOver])
  },
}
