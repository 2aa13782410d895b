import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { tenantOptions } from '../mapping.ts'
import type { Platform } from '../network/network.ts'

/** Makes the model of connections on one database. Tokens are sealed before they come here. */
export function defineConnectionTable(sequelize: Sequelize) {
  class Connection extends Model<InferAttributes<Connection>, InferCreationAttributes<Connection>> {
    declare brandId: string
    declare id: string
    declare platform: Platform
    declare authorId: string
    declare active: boolean
    declare externalAccountId: string
    declare accountName: string
    declare scopes: string[]
    declare metadata: CreationOptional<Record<string, unknown>>
    declare accessToken: string | null
    declare refreshToken: string | null
    declare tokenExpiresAt: Date | null
    declare connectedAt: Date
    /** Who renews the tokens at this moment, and until when nobody else does; both null: nobody. */
    declare renewalId: CreationOptional<string | null>
    declare renewalUntil: CreationOptional<Date | null>
    /** Grows while the worker that renews is alive; 0 in a claim of a program that does not count. */
    declare renewalBeats: CreationOptional<number>
    declare deactivatedReason: CreationOptional<string | null>
    declare version: CreationOptional<number>
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string
  }
  // Sequelize writes into what it is given: every attribute needs an object of its own.
  const text = () => ({ type: DataTypes.TEXT, allowNull: false })
  const moment = () => ({ type: DataTypes.DATE(3), allowNull: false })
  Connection.init(
    {
      brandId: { type: DataTypes.UUID, primaryKey: true },
      id: { type: DataTypes.UUID, primaryKey: true },
      platform: text(),
      authorId: text(),
      active: { type: DataTypes.BOOLEAN, allowNull: false },
      externalAccountId: text(),
      accountName: text(),
      scopes: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
      metadata: { type: DataTypes.JSONB, allowNull: false, defaultValue: {} },
      accessToken: { type: DataTypes.TEXT },
      refreshToken: { type: DataTypes.TEXT },
      tokenExpiresAt: { type: DataTypes.DATE(3) },
      connectedAt: moment(),
      renewalId: { type: DataTypes.UUID },
      renewalUntil: { type: DataTypes.DATE(3) },
      renewalBeats: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      deactivatedReason: { type: DataTypes.TEXT },
      version: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
      createdAt: moment(),
      updatedAt: moment(),
      createdBy: text(),
    },
    tenantOptions(sequelize, 'connections'),
  )
  return Connection
}

export type ConnectionTable = ReturnType<typeof defineConnectionTable>
export type ConnectionRow = InferAttributes<InstanceType<ConnectionTable>>
