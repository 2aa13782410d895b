import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'
import type { Platform } from '../network/network.ts'
import type { TargetKind } from '../network/publication.ts'
import { connections } from './connection.ts'

const tell = statement(
  `update publishing.connections c set version = c.version + 1, updated_at = $5, targets = (
     select jsonb_agg(case when place ->> 'kind' = $2 then place || jsonb_build_object('available', $3::text is null, 'reason', $3::text) else place end order by at)
       from jsonb_array_elements(c.targets) with ordinality as e (place, at))
   where c.platform = $1 and exists (select from jsonb_array_elements(c.targets) place
     where place ->> 'kind' = $2 and case when $3::text is null then place ->> 'reason' = $4::text else (place ->> 'available')::boolean end)`,
)

/** Kinds of places that accept or reject posts by the platform's configuration. */
export const placeStore = {
  table: connections,
  lists: {},
  open: ({ sequelize }: StoreContext) => ({
    /**
     * Sets whether posts are allowed at all stored places of a kind; leaves places unchanged that are set already.
     * @param reason why posts are not allowed; null allows them where `otherwise` was the reason
     */
    async tell(
      { platform, kind, reason, otherwise }: { platform: Platform; kind: TargetKind; reason: string | null; otherwise: string },
      now: Date,
    ): Promise<void> {
      await rows(sequelize, tell, [platform, kind, reason, otherwise, now])
    },
  }),
}
