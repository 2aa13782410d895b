import type { Sequelize } from 'sequelize'
import { rows, statement } from '../../sql/statement.ts'

/** An undelivered fact, as an operator sees it. */
export interface Undelivered {
  readonly from: string
  readonly id: string
  readonly receiver: string
  readonly kind: string
  readonly subject: string
  readonly at: Date
  readonly attempts: number
  /**
   * REFUSED: it is not retried automatically. BEHIND: an earlier fact of its subject is not delivered. WAITING: its
   * delivery comes soon.
   */
  readonly state: 'REFUSED' | 'BEHIND' | 'WAITING'
  readonly failure: string | null
}

/** Maximum number of listed facts of one writer. */
const mostListed = 200

const tellers = statement(
  `select table_schema as slug from information_schema.tables where table_name = 'facts' and table_schema = any($1::text[]) order by table_schema`,
)

const of = (slug: string) => ({
  list: statement(
    `select f.id, f.receiver, f.kind, f.subject, f.at, f.attempts, f.failure,
            case when f.next_at is null then 'REFUSED'
                 when exists (select from ${slug}.facts e where e.receiver = f.receiver and e.subject = f.subject and e.seq < f.seq and e.delivered_at is null) then 'BEHIND'
                 else 'WAITING' end as state
       from ${slug}.facts f where f.delivered_at is null order by f.next_at nulls first, f.seq limit $1`,
  ),
  retry: statement(`update ${slug}.facts set next_at = $2, attempts = 0 where delivered_at is null and ($1::uuid is null or id = $1) returning id`),
  drop: statement(
    `update ${slug}.facts set delivered_at = $2, next_at = null, failure = 'dropped by an operator' where id = $1 and delivered_at is null returning id`,
  ),
})

/** Operations on undelivered facts, over all schemas with facts. */
export interface FactOperator {
  list(): Promise<Undelivered[]>
  /** Schedules facts for delivery now: all of them, or one. @returns the number of deliveries */
  retry(id: string | null, now: Date): Promise<number>
  /** Drops a fact, so that later ones of its subject are delivered. @returns the number of dropped deliveries */
  drop(id: string, now: Date): Promise<number>
}

/** @param slugs of the subgraphs whose schemas are searched */
export async function openFactOperator(sequelize: Sequelize, slugs: readonly string[]): Promise<FactOperator> {
  const schemas = (await rows<{ slug: string }>(sequelize, tellers, [slugs])).map(({ slug }) => slug)
  const each = async (run: (schema: ReturnType<typeof of>) => Promise<unknown[]>) => {
    let count = 0
    for (const slug of schemas) count += (await run(of(slug))).length
    return count
  }
  return {
    async list() {
      const found: Undelivered[] = []
      for (const from of schemas)
        found.push(...(await rows<Omit<Undelivered, 'from'>>(sequelize, of(from).list, [mostListed])).map(undelivered => ({ from, ...undelivered })))
      return found
    },
    retry: (id, now) => each(({ retry }) => rows(sequelize, retry, [id, now])),
    drop: (id, now) => each(({ drop }) => rows(sequelize, drop, [id, now])),
  }
}
