import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import type { Connection } from '../../../platform/page.ts'
import { tenantOptions } from '../mapping.ts'

/** Makes the model of brands on one database. */
export function defineBrandTable(sequelize: Sequelize) {
  class Brand extends Model<InferAttributes<Brand>, InferCreationAttributes<Brand>> {
    declare id: string
    declare organizationId: string
    declare name: string
    declare description: CreationOptional<string | null>
    /** Null while it is in use. */
    declare archivedAt: CreationOptional<Date | null>
    declare idempotencyKey: CreationOptional<string | null>
    declare idempotencyHash: CreationOptional<string | null>
    declare version: CreationOptional<number>
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string
  }
  Brand.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true },
      organizationId: { type: DataTypes.TEXT, allowNull: false },
      name: { type: DataTypes.TEXT, allowNull: false },
      description: { type: DataTypes.TEXT },
      archivedAt: { type: DataTypes.DATE(3) },
      idempotencyKey: { type: DataTypes.TEXT },
      idempotencyHash: { type: DataTypes.TEXT },
      version: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
      createdAt: { type: DataTypes.DATE(3), allowNull: false },
      updatedAt: { type: DataTypes.DATE(3), allowNull: false },
      createdBy: { type: DataTypes.TEXT, allowNull: false },
    },
    tenantOptions(sequelize, 'brands'),
  )
  return Brand
}

export type BrandTable = ReturnType<typeof defineBrandTable>
export type BrandRow = InferAttributes<InstanceType<BrandTable>>
/** A page of them, as resolvers hand it on. */
export type BrandConnectionRow = Connection<BrandRow>
