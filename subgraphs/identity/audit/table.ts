import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'

export function defineAuditEntries(sequelize: Sequelize) {
  class AuditEntry extends Model<InferAttributes<AuditEntry>, InferCreationAttributes<AuditEntry>> {
    declare organizationId: string
    declare id: string
    /** The person who acted; null for the platform itself. */
    declare userId: string | null
    declare action: string
    declare target: string
    declare at: Date
  }
  return AuditEntry.init(
    {
      organizationId: { type: DataTypes.TEXT, primaryKey: true },
      id: { type: DataTypes.TEXT, primaryKey: true },
      userId: DataTypes.TEXT,
      action: { type: DataTypes.TEXT, allowNull: false },
      target: { type: DataTypes.TEXT, allowNull: false },
      at: { type: DataTypes.DATE, allowNull: false },
    },
    { sequelize, schema: 'identity', tableName: 'audit_entries', underscored: true, timestamps: false },
  )
}
