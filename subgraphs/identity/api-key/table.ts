import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import type { Connection } from '../../../platform/page.ts'

export function defineApiKeys(sequelize: Sequelize) {
  class ApiKey extends Model<InferAttributes<ApiKey>, InferCreationAttributes<ApiKey>> {
    declare organizationId: string
    declare id: string
    declare name: string
    declare hash: string
    declare prefix: string
    declare scopes: string[]
    declare expiresAt: Date | null
    declare revokedAt: CreationOptional<Date | null>
    declare lastUsedAt: CreationOptional<Date | null>
    declare idempotencyKey: string | null
    declare version: number
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string | null
  }
  return ApiKey.init(
    {
      organizationId: { type: DataTypes.TEXT, primaryKey: true },
      id: { type: DataTypes.TEXT, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      hash: { type: DataTypes.TEXT, allowNull: false },
      prefix: { type: DataTypes.TEXT, allowNull: false },
      scopes: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
      expiresAt: DataTypes.DATE,
      revokedAt: DataTypes.DATE,
      lastUsedAt: DataTypes.DATE,
      idempotencyKey: DataTypes.TEXT,
      version: { type: DataTypes.INTEGER, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      updatedAt: { type: DataTypes.DATE, allowNull: false },
      createdBy: DataTypes.TEXT,
    },
    { sequelize, schema: 'identity', tableName: 'api_keys', underscored: true, timestamps: false },
  )
}

export type ApiKeyRow = InferAttributes<InstanceType<ReturnType<typeof defineApiKeys>>>

export type ApiKeyConnectionRow = Connection<ApiKeyRow>
