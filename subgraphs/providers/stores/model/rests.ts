import type { Sequelize } from 'sequelize'
import { lockingStatement, rows } from '../../../../platform/sql/statement.ts'

/** That a candidate rests, as every process knows it. */
export interface KnownRest {
  readonly credentialId: string
  readonly model: string
  /** In ms; null: it has failed lately, and does not rest. */
  readonly until: number | null
  readonly isLimit: boolean
}

const columns = `credential_id as "credentialId", model, (extract(epoch from until) * 1000)::float8 as until, is_limit as "isLimit"`

/** A shorter rest does not end a longer one: a call that began before may come back later. */
const limited = lockingStatement(
  `insert into providers.rests as r (credential_id, model, until, is_limit, failures, over_at) values ($1, $2, $3, true, 0, $3)
   on conflict (credential_id, model) do update set
     is_limit = r.until is null or r.until <= excluded.until or r.is_limit, until = greatest(r.until, excluded.until), failures = 0, failing_since = null,
     over_at = greatest(r.over_at, excluded.over_at)
   returning ${columns}`,
)
const failed = lockingStatement(
  `insert into providers.rests as r (credential_id, model, is_limit, failures, failing_since, over_at)
   values ($1, $2, false, 1, $3::timestamptz, $3::timestamptz + $5::int * interval '1 ms')
   on conflict (credential_id, model) do update set (until, is_limit, failures, failing_since, over_at) = (
     select case when n >= $4 then greatest(r.until, $3::timestamptz + $6::int * interval '1 ms') else r.until end,
            r.is_limit and (n < $4 or r.until > $3::timestamptz + $6::int * interval '1 ms'),
            case when n >= $4 then 0 else n end,
            case when n >= $4 then null when n = 1 then $3::timestamptz else r.failing_since end,
            greatest(r.over_at, $3::timestamptz + case when n >= $4 then $6::int else $5::int end * interval '1 ms')
       from (select case when r.failures > 0 and r.failing_since > $3::timestamptz - $5::int * interval '1 ms' then r.failures + 1 else 1 end as n) counted)
   returning ${columns}`,
)
const worked = lockingStatement('delete from providers.rests where credential_id = $1 and model = $2')
const over = lockingStatement(
  'delete from providers.rests r using (select credential_id, model from providers.rests where over_at <= $1 order by over_at limit $2 for update skip locked) o where r.credential_id = o.credential_id and r.model = o.model',
)

/** How many failures in a row make a candidate rest, within how long, and how long it rests then, in ms. */
export interface Patience {
  readonly inARow: number
  readonly withinMs: number
  readonly restMs: number
}

/** How many rests that are over are forgotten at once. */
const mostOver = 5_000

/** The statements by which processes tell each other which candidates rest. Each answers how the candidate stands then. */
export const rests = {
  async limited(sequelize: Sequelize, credentialId: string, model: string, until: Date): Promise<KnownRest> {
    return (await rows<KnownRest>(sequelize, limited, [credentialId, model, until]))[0]!
  },
  async failed(sequelize: Sequelize, credentialId: string, model: string, now: Date, { inARow, withinMs, restMs }: Patience): Promise<KnownRest> {
    return (await rows<KnownRest>(sequelize, failed, [credentialId, model, now, inARow, withinMs, restMs]))[0]!
  },
  async worked(sequelize: Sequelize, credentialId: string, model: string): Promise<void> {
    await rows(sequelize, worked, [credentialId, model])
  },
  /** Forgets what does not count any more. */
  async forget(sequelize: Sequelize, now: Date): Promise<void> {
    await rows(sequelize, over, [now, mostOver])
  },
}
