import { QueryTypes, type Sequelize } from 'sequelize'

/** What the widget counts and shows, in one statement. */
export interface WidgetFacts {
  readonly scheduledToday: number
  readonly failed: number
  readonly publishedThisWeek: number
  readonly next: { readonly id: string; readonly copy: string; readonly scheduledAt: Date } | null
}

/** SQL of the widget. */
export function createWidgetStore(sequelize: Sequelize) {
  return {
    /** Counts the posts of an organization. `day` and `week` are the UTC day and the UTC week (from Monday) that count as now. */
    async facts(organizationId: string, now: Date, day: { from: Date; to: Date }, weekFrom: Date): Promise<WidgetFacts> {
      const [row] = await sequelize.query<{
        scheduledToday: number
        failed: number
        publishedThisWeek: number
        next: { id: string; copy: string; at: string } | null
      }>(
        `select
           count(*) filter (where p.status = 'SCHEDULED' and p.scheduled_at >= $3 and p.scheduled_at < $4)::int as "scheduledToday",
           count(*) filter (where p.status = 'FAILED')::int as failed,
           count(*) filter (where p.status = 'PUBLISHED' and p.published_at >= $5)::int as "publishedThisWeek",
           (select json_build_object('id', n.id, 'copy', left(n.copy, 200), 'at', n.scheduled_at)
              from publishing.posts n join publishing.brands nb on nb.id = n.brand_id
              where nb.organization_id = $1 and n.status = 'SCHEDULED' and n.scheduled_at >= $2
              order by n.scheduled_at, n.id limit 1) as next
         from publishing.posts p join publishing.brands b on b.id = p.brand_id
         where b.organization_id = $1`,
        { bind: [organizationId, now, day.from, day.to, weekFrom], type: QueryTypes.SELECT },
      )
      const next = row?.next ?? null
      return {
        scheduledToday: row?.scheduledToday ?? 0,
        failed: row?.failed ?? 0,
        publishedThisWeek: row?.publishedThisWeek ?? 0,
        next: next && { id: next.id, copy: next.copy, scheduledAt: new Date(next.at) },
      }
    },
  }
}

export type WidgetStore = ReturnType<typeof createWidgetStore>
