import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import type { Openable } from '../../../store/store.ts'

const take = statement(
  `insert into agents.chat_rates as r (key, count, ends_at) values ($1, 1, $4)
   on conflict (key) do update
     set count = case when r.ends_at <= $3 then 1 else r.count + 1 end, ends_at = case when r.ends_at <= $3 then $4 else r.ends_at end
     where r.ends_at <= $3 or r.count < $2
   returning count`,
)
const endOf = statement('select ends_at as at from agents.chat_rates where key = $1')
const readSecret = statement('select value from agents.secrets where name = $1')
const writeSecret = statement('insert into agents.secrets (name, value) values ($1, $2) on conflict (name) do nothing')

const placeOf = (name: string) => `agents.secrets:${name}`

/** Secrets of this service as they are stored. */
export const sealedChatSecrets: readonly SealedColumn[] = [{ table: 'agents.secrets', key: 'name', column: 'value', about: placeOf }]

/** What may happen how often: `max` in a window that begins with the first. */
export interface Rate {
  readonly key: string
  readonly max: number
  readonly windowMs: number
}

/** Counts calls over all processes, exactly: two at the same moment follow each other at the row. */
export const chatRateStore = {
  open: ({ sequelize }: Parameters<Openable['open']>[0]) => ({
    /** Counts one. @returns 0 when it is allowed; else how long the window still lasts, in ms, and nothing is counted */
    async take({ key, max, windowMs }: Rate, now: Date, transaction?: Transaction): Promise<number> {
      const ends = new Date(now.getTime() + windowMs)
      if ((await rows(sequelize, take, [key, max, now, ends], transaction)).length > 0) return 0
      const [found] = await rows<{ at: Date }>(sequelize, endOf, [key], transaction)
      return Math.max(1, (found?.at ?? ends).getTime() - now.getTime())
    },

    /** A secret that all processes of this service share; made at its first use. @param fresh makes one */
    async secret(name: string, cipher: Cipher, fresh: () => string): Promise<string> {
      const about = placeOf(name)
      const known = async () => (await rows<{ value: string }>(sequelize, readSecret, [name]))[0]?.value
      const sealed = await known()
      if (sealed !== undefined) return cipher.open(sealed, about)
      await rows(sequelize, writeSecret, [name, cipher.seal(fresh(), about)])
      return cipher.open((await known())!, about)
    },
  }),
}
