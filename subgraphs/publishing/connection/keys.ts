import { QueryTypes, type Sequelize } from 'sequelize'
import { NotReady } from '../../../platform/errors.ts'
import type { Foundation } from '../../subgraph.ts'
import type { KeyCheck } from '../context.ts'
import type { ConnectionRow, OpenTokens } from '../stores/connection.ts'

/** How many keys are looked at: nobody rotates that often. */
const mostKeys = 100

/** One connection for each key that tokens were sealed with: the index is asked for the next key, so it costs no more with many rows. */
const oneOfEachKey = (column: 'access_token' | 'refresh_token') => `
  with recursive keys (id) as (
    (select min(split_part(${column}, '.', 2)) from publishing.connections where ${column} is not null)
    union all
    select (select min(split_part(c.${column}, '.', 2)) from publishing.connections c
            where c.${column} is not null and split_part(c.${column}, '.', 2) > k.id)
    from keys k where k.id is not null
  )
  select k.id as "keyId", c.* from (select id from keys where id is not null limit ${mostKeys}) k cross join lateral (
    select id, ${column} as sealed from publishing.connections
    where ${column} is not null and split_part(${column}, '.', 2) = k.id limit 1) c`

type Sealed = Pick<ConnectionRow, 'id' | 'accessToken' | 'refreshToken'>

/** Makes the check of the keys that tokens of connections are sealed with. @param open throws for tokens of a key that is missing */
export function createKeyCheck(sequelize: Sequelize, open: (row: Sealed) => OpenTokens, log: Foundation['log']): KeyCheck {
  let logged = ''
  const opens = (row: Sealed): boolean => {
    try {
      open(row)
      return true
    } catch {
      return false
    }
  }
  return {
    async check() {
      const find = (column: Parameters<typeof oneOfEachKey>[0]) =>
        sequelize.query<{ keyId: string; id: string; sealed: string }>(oneOfEachKey(column), { type: QueryTypes.SELECT })
      const [access, refresh] = await Promise.all([find('access_token'), find('refresh_token')])
      const closed = [
        ...access.filter(({ id, sealed }) => !opens({ id, accessToken: sealed, refreshToken: null })),
        ...refresh.filter(({ id, sealed }) => !opens({ id, accessToken: null, refreshToken: sealed })),
      ]
      const keys = [...new Set(closed.map(({ keyId }) => keyId))].join(', ')
      const isNews = keys !== logged
      logged = keys
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
