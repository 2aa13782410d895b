import { QueryTypes, type Sequelize } from 'sequelize'
import { NotReady } from '../../../platform/errors.ts'
import type { Foundation } from '../../subgraph.ts'
import type { ConnectionStore } from './store.ts'

/** Whether what was sealed can be opened with the keys that are configured. */
export interface KeyCheck {
  /** Rejects with a `NotReady` that names each key by which nothing opens; an error is logged once for each such finding. */
  check(): Promise<void>
}

/** How many keys are looked at: nobody rotates that often. */
const mostKeys = 100

/** One connection for each key that tokens were sealed with: the index is asked for the next key, so it costs no more with many rows. */
const oneOfEachKey = `
  with recursive keys (id) as (
    (select min(split_part(access_token, '.', 2)) from publishing.connections where access_token is not null)
    union all
    select (select min(split_part(c.access_token, '.', 2)) from publishing.connections c
            where c.access_token is not null and split_part(c.access_token, '.', 2) > k.id)
    from keys k where k.id is not null
  )
  select k.id as "keyId", c.id, c.access_token as "accessToken"
  from (select id from keys where id is not null limit ${mostKeys}) k cross join lateral (
    select id, access_token from publishing.connections
    where access_token is not null and split_part(access_token, '.', 2) = k.id limit 1) c`

/** Makes the check of the keys that tokens of connections are sealed with. */
export function createKeyCheck(sequelize: Sequelize, connections: Pick<ConnectionStore, 'open'>, log: Foundation['log']): KeyCheck {
  let told = ''
  return {
    async check() {
      const rows = await sequelize.query<{ keyId: string; id: string; accessToken: string }>(oneOfEachKey, { type: QueryTypes.SELECT })
      const missing = rows.filter(({ id, accessToken }) => {
        try {
          connections.open({ id, accessToken, refreshToken: null })
          return false
        } catch {
          return true
        }
      })
      const keys = missing.map(({ keyId }) => keyId).join(', ')
      const isNews = keys !== told
      told = keys
      if (!keys) return
      if (isNews)
        log.error(
          { keys },
          'accounts cannot be used: their tokens were sealed with an encryption key that is missing in ENCRYPTION_KEYS, or is another one there; posts wait',
        )
      throw new NotReady(`encryption key ${keys} is missing in ENCRYPTION_KEYS, or is another one`)
    },
  }
}
