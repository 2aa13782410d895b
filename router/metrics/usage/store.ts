import { QueryTypes, type Sequelize } from 'sequelize'
import type { Addition } from './sums.ts'

/** How often one client used a coordinate. */
export interface CoordinateUse {
  readonly coordinate: string
  readonly client: string
  readonly version: string
  /** Names of the operations, sorted; at most 50. */
  readonly operations: readonly string[]
  readonly count: number
  readonly lastUsedAt: Date
}

/** How often one client used several coordinates by one operation. */
export interface Use {
  readonly client: string
  readonly version: string
  readonly operation: string
  readonly coordinates: readonly string[]
  readonly count: number
  readonly lastUsedAt: Date
}

/** Which uses are read. */
export interface UsageFilter {
  /** First UTC day, `2026-11-28`. */
  readonly since: string
  /** @default every client */
  readonly client?: string | undefined
  /** @default every coordinate */
  readonly coordinates?: readonly string[] | undefined
}

/** The table of sums, which all routers of a platform add to. */
export interface UsageStore {
  /** Notes that recording has begun; a former beginning stays. */
  begin(at: Date): Promise<void>
  /** When recording began; null where it never did. */
  began(): Promise<Date | null>
  /** Adds to sums; all or nothing. */
  add(additions: readonly Addition[]): Promise<void>
  /** Deletes the sums of days before this one. */
  forget(day: string): Promise<void>
  /** Returns uses by coordinate and client, most used first. */
  read(filter: UsageFilter): Promise<CoordinateUse[]>
  /** Returns uses of at least one of these coordinates, each use once. @param since first UTC day */
  touching(since: string, coordinates: readonly string[]): Promise<Use[]>
}

const addSql = `
  insert into usage.sums (day, key, client, version, variant, operation, document, coordinates, count, last_used_at)
  select day, key, client, version, variant, operation, document, array(select jsonb_array_elements_text(coordinates)), count, to_timestamp(at / 1000.0)
  from jsonb_to_recordset($1::jsonb) as added
    (day date, key text, client text, version text, variant text, operation text, document text, coordinates jsonb, count bigint, at bigint)
  on conflict (day, key) do update
    set count = sums.count + excluded.count, last_used_at = greatest(sums.last_used_at, excluded.last_used_at)`

const readSql = `
  select coordinate, client, version, (array_agg(distinct operation order by operation))[1:50] as operations, sum(count)::float8 as count,
    max(last_used_at) as "lastUsedAt"
  from usage.sums cross join unnest(coordinates) as coordinate
  where day >= $1::date and ($2::text is null or client = $2) and ($3::text[] is null or coordinates && $3) and ($3::text[] is null or coordinate = any($3))
  group by coordinate, client, version order by count desc, coordinate, client, version`

const touchingSql = `
  select client, version, operation, coordinates, sum(count)::float8 as count, max(last_used_at) as "lastUsedAt"
  from usage.sums where day >= $1::date and coordinates && $2::text[]
  group by client, version, operation, coordinates`

/** @param sequelize of the platform's database */
export function createUsageStore(sequelize: Sequelize): UsageStore {
  const change = async (sql: string, bind: readonly unknown[]) => void (await sequelize.query(sql, { bind: [...bind] }))
  return {
    begin: at => change('insert into usage.recording (began_at) values ($1) on conflict do nothing', [at]),
    async began() {
      const [found] = await sequelize.query<{ at: Date }>('select began_at as at from usage.recording', { type: QueryTypes.SELECT })
      return found?.at ?? null
    },
    add(additions) {
      const rows = additions.map(({ sum: { day, key, client, version, variant, operation, document, coordinates }, count, lastUsedAt }) => ({
        ...{ day, key, client, version, variant, operation, document, coordinates },
        ...{ count, at: lastUsedAt },
      }))
      // In one order, so that routers that add the same sums at the same time do not wait for each other in a circle.
      return change(addSql, [JSON.stringify(rows.sort((one, other) => (one.key < other.key ? -1 : 1)))])
    },
    forget: day => change('delete from usage.sums where day < $1::date', [day]),
    read: ({ since, client = null, coordinates = null }) =>
      sequelize.query<CoordinateUse>(readSql, { bind: [since, client, coordinates], type: QueryTypes.SELECT }),
    touching: (since, coordinates) => sequelize.query<Use>(touchingSql, { bind: [since, coordinates], type: QueryTypes.SELECT }),
  }
}
