import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { tenantOptions } from '../mapping.ts'
import type { Platform } from '../network/network.ts'

/** Makes the model of authorizations that were begun at a network and not yet answered. */
export function defineAuthorizationTable(sequelize: Sequelize) {
  class Authorization extends Model<InferAttributes<Authorization>, InferCreationAttributes<Authorization>> {
    declare brandId: string
    /** SHA-256 of the state: a database dump gives nobody a state that works. */
    declare stateHash: string
    declare platform: Platform
    declare userId: string
    /** PKCE verifier, sealed. */
    declare verifier: string
    declare expiresAt: Date
    /** Fingerprint of the browser that began it, or that confirmed it; null while none has. */
    declare browserHash: CreationOptional<string | null>
    /** Fingerprint of what the latest confirmation page has to bring back. */
    declare confirmHash: CreationOptional<string | null>
    /** Until when one request alone exchanges the code. */
    declare claimUntil: CreationOptional<Date | null>
    declare usedAt: CreationOptional<Date | null>
    /** What it has connected; null as long as it is not used, and when it was used in vain. */
    declare connectionId: CreationOptional<string | null>
    /** Names at the time when it was begun, for the confirmation page. */
    declare begunBy: CreationOptional<string | null>
    declare organizationName: CreationOptional<string | null>
    declare version: CreationOptional<number>
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string
  }
  // Sequelize writes into what it is given: every attribute needs an object of its own.
  const text = () => ({ type: DataTypes.TEXT, allowNull: false })
  const moment = () => ({ type: DataTypes.DATE(3), allowNull: false })
  Authorization.init(
    {
      brandId: { type: DataTypes.UUID, primaryKey: true },
      stateHash: { ...text(), primaryKey: true },
      platform: text(),
      userId: text(),
      verifier: text(),
      expiresAt: moment(),
      browserHash: { type: DataTypes.TEXT },
      confirmHash: { type: DataTypes.TEXT },
      claimUntil: { type: DataTypes.DATE(3) },
      usedAt: { type: DataTypes.DATE(3) },
      connectionId: { type: DataTypes.UUID },
      begunBy: { type: DataTypes.TEXT },
      organizationName: { type: DataTypes.TEXT },
      version: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
      createdAt: moment(),
      updatedAt: moment(),
      createdBy: text(),
    },
    tenantOptions(sequelize, 'authorizations'),
  )
  return Authorization
}

export type AuthorizationRow = InferAttributes<InstanceType<ReturnType<typeof defineAuthorizationTable>>>
