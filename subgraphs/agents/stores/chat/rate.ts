import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import { type Rate, ratesIn } from '../../../../platform/sql/rates.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import type { Openable } from '../../../store/store.ts'

const take = ratesIn('agents.chat_rates')
const full = statement('select ends_at as at from agents.chat_rates where key = $1 and ends_at > $2 and count >= $3')
const readSecret = statement('select value from agents.secrets where name = $1')
const writeSecret = statement('insert into agents.secrets (name, value) values ($1, $2) on conflict (name) do nothing')

const placeOf = (name: string) => `agents.secrets:${name}`

/** Secrets of this service as they are stored. */
export const sealedChatSecrets: readonly SealedColumn[] = [{ table: 'agents.secrets', key: 'name', column: 'value', about: placeOf }]

/** Counts calls over all processes, exactly: two at the same moment follow each other at the row. */
export const chatRateStore = {
  open: ({ sequelize }: Parameters<Openable['open']>[0]) => ({
    /** Counts one. @returns 0 when it is allowed; else how long the window still lasts, in ms, and nothing is counted */
    take: (rate: Rate, now: Date, transaction?: Transaction): Promise<number> => take(sequelize, rate, now, transaction),

    /** How long a full window still lasts, in ms; 0 for one that is not full. It counts nothing. */
    async waitOf({ key, max }: Rate, now: Date): Promise<number> {
      const [found] = await rows<{ at: Date }>(sequelize, full, [key, now, max])
      return found ? found.at.getTime() - now.getTime() : 0
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
