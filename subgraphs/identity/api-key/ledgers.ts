import type pg from 'pg'
import type { Clock } from '../../../platform/clock.ts'
import type { KeyLoan, KeyUse } from '../../authority.ts'
import { emptyLedger, type Ledger, lend } from './lend.ts'

const lock = {
  name: 'lock key ledgers',
  text: 'select key_id as "keyId", ledger from identity.key_ledgers where key_id = any($1::uuid[]) order by key_id for update',
}
const begin = {
  name: 'begin key ledgers',
  text: `insert into identity.key_ledgers (key_id, ledger, at) select id, $2::jsonb, $3 from unnest($1::uuid[]) id order by id on conflict do nothing`,
}
const keep = {
  name: 'keep key ledgers',
  text: `update identity.key_ledgers k set ledger = n.ledger, at = $3
           from unnest($1::uuid[], $2::jsonb[]) as n (key_id, ledger) where k.key_id = n.key_id`,
}

/**
 * Lends uses of keys to routers: three statements in one transaction for any number of keys. Routers that ask at the
 * same moment about the same key take turns.
 */
export const createKeyLender = (pool: pg.Pool, clock: Clock) =>
  async function lendKeys(asked: readonly KeyUse[]): Promise<readonly KeyLoan[]> {
    if (asked.length === 0) return []
    const ids = [...new Set(asked.map(({ keyId }) => keyId))]
    const client = await pool.connect()
    try {
      await client.query('begin')
      const read = async () => (await client.query<{ keyId: string; ledger: Ledger }>({ ...lock, values: [ids] })).rows
      let found = await read()
      const now = clock.now()
      if (found.length < ids.length) {
        await client.query({ ...begin, values: [ids, JSON.stringify(emptyLedger), now] })
        found = await read()
      }
      const ledgers = new Map(found.map(({ keyId, ledger }) => [keyId, ledger]))
      const loans = asked.map(use => {
        const { ledger, loan } = lend(ledgers.get(use.keyId) ?? emptyLedger, use, now.getTime())
        ledgers.set(use.keyId, ledger)
        return loan
      })
      await client.query({ ...keep, values: [[...ledgers.keys()], [...ledgers.values()].map(ledger => JSON.stringify(ledger)), now] })
      await client.query('commit')
      client.release()
      return loans
    } catch (error) {
      // The connection's state is unknown, so the pool opens another.
      client.release(true)
      throw error
    }
  }
