import { createHash } from 'node:crypto'
import { Op, QueryTypes, type Sequelize } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { columnsOf } from '../mapping.ts'
import type { Platform } from '../network/network.ts'
import { type AuthorizationRow, defineAuthorizationTable } from './table.ts'

/** How long a person has to agree at the network, in ms. */
export const authorizationLifeMs = 10 * 60_000

/** What must be remembered while a person is at the network. */
export interface Begun {
  readonly state: string
  readonly verifier: string
  readonly brandId: string
  readonly platform: Platform
  readonly userId: string
}

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex')

/** SQL of authorizations. A state works once, for ten minutes, and is stored as its hash. */
export function createAuthorizationStore(sequelize: Sequelize, cipher: Cipher) {
  const Authorization = defineAuthorizationTable(sequelize)
  const columns = columnsOf(Authorization, 'a')
  return {
    async begin({ state, verifier, brandId, platform, userId }: Begun, now: Date): Promise<void> {
      const stateHash = hashOf(state)
      await Authorization.destroy({ where: { brandId, expiresAt: { [Op.lt]: now } } })
      await Authorization.create({
        brandId,
        stateHash,
        platform,
        userId,
        verifier: cipher.seal(verifier, `publishing.authorization:${stateHash}`),
        expiresAt: new Date(now.getTime() + authorizationLifeMs),
        createdAt: now,
        updatedAt: now,
        createdBy: `user:${userId}`,
      })
    },

    /** Uses a state up, and hands back what was begun with it; null when it is foreign, used or too old. */
    async redeem(state: string, platform: Platform, now: Date): Promise<Begun | null> {
      // One statement: of two callbacks with the same state one gets the row.
      const [rows] = (await sequelize.query(
        `update publishing.authorizations a set used_at = $3, updated_at = $3
         where a.state_hash = $1 and a.platform = $2 and a.used_at is null and a.expires_at > $3 returning ${columns}`,
        { bind: [hashOf(state), platform, now], type: QueryTypes.RAW },
      )) as [AuthorizationRow[], unknown]
      const row = rows[0]
      return row
        ? { state, verifier: cipher.open(row.verifier, `publishing.authorization:${row.stateHash}`), brandId: row.brandId, platform, userId: row.userId }
        : null
    },
  }
}

export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>
