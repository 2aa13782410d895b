import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import type { Connection } from '../../../platform/page.ts'

export function defineMemberships(sequelize: Sequelize) {
  class Membership extends Model<InferAttributes<Membership>, InferCreationAttributes<Membership>> {
    declare organizationId: string
    declare id: string
    declare userId: string
    declare roles: string[]
    /** When the person last made this organization the active one. */
    declare lastUsedAt: CreationOptional<Date | null>
    declare version: number
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string | null
  }
  return Membership.init(
    {
      organizationId: { type: DataTypes.TEXT, primaryKey: true },
      id: { type: DataTypes.TEXT, primaryKey: true },
      userId: { type: DataTypes.TEXT, allowNull: false },
      roles: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
      lastUsedAt: DataTypes.DATE,
      version: { type: DataTypes.INTEGER, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      updatedAt: { type: DataTypes.DATE, allowNull: false },
      createdBy: DataTypes.TEXT,
    },
    { sequelize, schema: 'identity', tableName: 'memberships', underscored: true, timestamps: false },
  )
}

export type MembershipRow = InferAttributes<InstanceType<ReturnType<typeof defineMemberships>>>

export type MembershipConnectionRow = Connection<MembershipRow>
