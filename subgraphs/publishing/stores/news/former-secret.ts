import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import { newId } from '../../../../platform/ids.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { moment, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { WebhookEndpointRow } from './webhook.ts'

/**
 * Secrets of webhook endpoints that were replaced before `previousSecret`. Each signs until a day after its
 * replacement.
 */
export const formerSecrets = table('publishing.webhook_former_secrets', {
  id: uuid.key,
  brandId: uuid,
  endpointId: uuid,
  /** Encrypted. */
  secret: text,
  signsUntil: moment,
})

const place = (id: string) => `publishing.webhook_former_secret:${id}:secret`

export const sealedFormerSecrets: readonly SealedColumn[] = [{ table: formerSecrets.name, key: 'id', column: 'secret', about: place }]

interface Standing {
  readonly id: string
  readonly secret: string
  readonly signsUntil: Date
}

const insert = statement('insert into publishing.webhook_former_secrets (id, brand_id, endpoint_id, secret, signs_until) values ($1, $2, $3, $4, $5)')
const standing = statement(
  `select id, secret, signs_until as "signsUntil" from publishing.webhook_former_secrets
   where brand_id = $1 and endpoint_id = $2 and signs_until > $3 order by signs_until desc`,
)

export const formerSecretStore = (cipher: Cipher) => ({
  table: formerSecrets,
  lists: {},
  open: ({ sequelize }: StoreContext) => {
    const read = ({ brandId, id }: WebhookEndpointRow, now: Date, transaction?: Transaction) =>
      rows<Standing>(sequelize, standing, [brandId, id, now], transaction)
    return {
      /** Stores a replaced secret until it signs no more. */
      async keep({ brandId, id: endpointId }: WebhookEndpointRow, clear: string, signsUntil: Date, now: Date, transaction: Transaction): Promise<void> {
        const id = newId(now)
        await rows(sequelize, insert, [id, brandId, endpointId, cipher.seal(clear, place(id)), signsUntil], transaction)
      },

      /** Returns the times at which an endpoint's replaced secrets stop signing, the latest first. */
      ends: async (endpoint: WebhookEndpointRow, now: Date, transaction: Transaction): Promise<readonly Date[]> =>
        (await read(endpoint, now, transaction)).map(({ signsUntil }) => signsUntil),

      /** Decrypts the replaced secrets of an endpoint that still sign. Throws when the key is missing. */
      async secretsOf(endpoint: WebhookEndpointRow, now: Date): Promise<readonly string[]> {
        // The secret that was replaced last is valid longest.
        if (!endpoint.previousUntil || endpoint.previousUntil <= now) return []
        return (await read(endpoint, now)).map(({ id, secret }) => cipher.open(secret, place(id)))
      },

      /** Decrypts a stored secret. Throws when the key is missing. */
      open: (id: string, sealed: string): string => cipher.open(sealed, place(id)),
    }
  },
})
