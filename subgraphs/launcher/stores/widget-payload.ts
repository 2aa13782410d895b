import type { Sequelize } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { lockingStatement, rows, statement } from '../../../platform/sql/statement.ts'
import type { SealedColumn } from '../../store/sealed.ts'

/** A good payload as it is stored. */
export interface StoredPayload<Payload> {
  readonly key: string
  readonly payload: Payload
  readonly readAt: Date
  /** Until when it is answered without asking the app. */
  readonly freshUntil: Date
}

/** A payload to store, and for whom it was read. */
export interface NewPayload {
  readonly key: string
  readonly entryId: string
  readonly organizationId: string | null
  readonly userId: string | null
  readonly payload: unknown
}

/** Stores good payloads of apps' widgets, for all processes. */
export interface PayloadStore<Payload> {
  read(keys: readonly string[]): Promise<StoredPayload<Payload>[]>
  /** Stores payloads whose reading began at `askedAt`; a payload that was dropped since is stored as not fresh. */
  write(payloads: readonly NewPayload[], askedAt: Date, readAt: Date, freshUntil: Date): Promise<void>
  /** Ends the freshness of an app's payloads: of an organization, or of one person anywhere, or of one person and of all together there. */
  drop(of: { readonly entryId: string; readonly organizationId: string | null; readonly userId: string | null }, now: Date): Promise<void>
}

const readAll = statement(
  `select p.key, p.payload, p.read_at as "readAt", p.fresh_until as "freshUntil" from launcher.widget_payloads p where p.key = any($1::text[])`,
)
const writeAll = lockingStatement(
  `insert into launcher.widget_payloads as t (key, entry_id, organization_id, user_id, payload, read_at, fresh_until)
   select r.key, r."entryId", r."organizationId", r."userId", r.payload, $3, $4
     from json_to_recordset($1::json) as r (key text, "entryId" uuid, "organizationId" uuid, "userId" uuid, payload json)
   on conflict (key) do update set payload = excluded.payload, read_at = excluded.read_at,
     fresh_until = case when t.dropped_at >= $2 then excluded.read_at else excluded.fresh_until end
   where t.read_at <= excluded.read_at`,
)
const dropAll = lockingStatement(
  `update launcher.widget_payloads t set fresh_until = least(t.fresh_until, $4), dropped_at = $4
    where t.entry_id = $1 and ($2::uuid is null or t.organization_id = $2) and ($3::uuid is null or t.user_id = $3 or $2::uuid is not null and t.user_id is null)`,
)

/** Opens the payloads that lie in PostgreSQL. */
export const openPayloads = <Payload>(sequelize: Sequelize): PayloadStore<Payload> => ({
  read: keys => rows<StoredPayload<Payload>>(sequelize, readAll, [keys]),
  async write(payloads, askedAt, readAt, freshUntil) {
    await rows(sequelize, writeAll, [JSON.stringify(payloads), askedAt, readAt, freshUntil])
  },
  async drop({ entryId, organizationId, userId }, now) {
    await rows(sequelize, dropAll, [entryId, organizationId, userId, now])
  },
})

const readSecret = statement('select value from launcher.secrets where name = $1')
const writeSecret = lockingStatement('insert into launcher.secrets (name, value) values ($1, $2) on conflict (name) do nothing')
const placeOf = (name: string) => `launcher.secrets:${name}`

/** Secrets that the launcher keeps. */
export const sealedLauncherSecrets: readonly SealedColumn[] = [{ table: 'launcher.secrets', key: 'name', column: 'value', about: placeOf }]

/** Returns a secret that all processes of the launcher share; made at its first use. @param fresh makes one */
export async function sharedSecret(sequelize: Sequelize, cipher: Cipher, name: string, fresh: () => Promise<string>): Promise<string> {
  const about = placeOf(name)
  const known = async () => (await rows<{ value: string }>(sequelize, readSecret, [name]))[0]?.value
  const sealed = await known()
  if (sealed !== undefined) return cipher.open(sealed, about)
  await rows(sequelize, writeSecret, [name, cipher.seal(await fresh(), about)])
  return cipher.open((await known())!, about)
}
