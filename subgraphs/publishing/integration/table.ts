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
    declare usedAt: CreationOptional<Date | null>
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
      usedAt: { type: DataTypes.DATE(3) },
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
