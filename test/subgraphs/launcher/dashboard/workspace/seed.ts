import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'

/** Verifies a recovery address of a person, in place of what they have. */
export const seedRecovery = (graph: Pick<Supergraph, 'rows' | 'clock'>, { userId }: Pick<Viewer, 'userId'>) =>
  graph.rows(
    'insert into identity.recovery_emails (user_id, email, verified_at, updated_at) values ($1, $2, $3, $3) on conflict (user_id) do update set verified_at = $3',
    [...[userId, `${userId}@recovery.test`, graph.clock.now()]],
  )
