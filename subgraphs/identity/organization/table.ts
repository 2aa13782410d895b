import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'

export function defineOrganizations(sequelize: Sequelize) {
  class Organization extends Model<InferAttributes<Organization>, InferCreationAttributes<Organization>> {
    declare id: string
    declare slug: string
    declare name: string
    declare version: number
    declare createdAt: Date
    declare updatedAt: Date
    /** Null for organizations that set-up made. */
    declare createdBy: string | null
  }
  return Organization.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      slug: { type: DataTypes.TEXT, allowNull: false },
      name: { type: DataTypes.TEXT, allowNull: false },
      version: { type: DataTypes.INTEGER, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      updatedAt: { type: DataTypes.DATE, allowNull: false },
      createdBy: DataTypes.TEXT,
    },
    { sequelize, schema: 'identity', tableName: 'organizations', underscored: true, timestamps: false },
  )
}

export type OrganizationRow = InferAttributes<InstanceType<ReturnType<typeof defineOrganizations>>>
