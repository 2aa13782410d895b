import { newId } from '../../../../../platform/ids.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'

type Graph = Pick<Supergraph, 'rows' | 'clock'>

export interface ItemSeed {
  readonly id?: string
  readonly title?: string
  readonly audience?: 'organization' | 'managers' | 'person'
  readonly status?: 'OPEN' | 'DONE'
}

/** Opens an action item in the viewer's context. @returns its id */
export async function seedItem(
  graph: Graph,
  { organizationId, userId }: Pick<Viewer, 'organizationId' | 'userId'>,
  { id = newId(), title = 'Look at it', audience = 'organization', status = 'OPEN' }: ItemSeed = {},
): Promise<string> {
  const now = graph.clock.now()
  await graph.rows(
    `insert into launcher.action_items (id, app, key, kind, severity, status, organization_id, audience, user_id, subject_id, title, url, opened_at, closed_at, created_at, updated_at, created_by)
     values ($1, 'publishing', $2, 'POST_FAILED', 'HIGH', $3, $4, $5, $6, $2, $7, 'https://demo.example/item', $8, $9, $8, $8, 'test')`,
    [id, `post:${id}`, status, organizationId, audience, audience === 'person' ? userId : null, title, now, status === 'OPEN' ? null : now],
  )
  return id
}

/** Gives a person a notification in their context. @returns its id */
export async function seedNotification(
  graph: Graph,
  { organizationId, userId }: Pick<Viewer, 'organizationId' | 'userId'>,
  { title = 'It has happened', isArchived = false }: { readonly title?: string; readonly isArchived?: boolean } = {},
): Promise<string> {
  const id = newId()
  await graph.rows(
    `insert into launcher.notifications (id, user_id, organization_id, app, kind, title, severity, archived_at, created_at, updated_at, created_by)
     values ($1, $2, $3, 'payments', 'order.paid', $4, 'NORMAL', $5, $6, $6, 'test')`,
    [id, userId, organizationId, title, isArchived ? graph.clock.now() : null, graph.clock.now()],
  )
  return id
}
