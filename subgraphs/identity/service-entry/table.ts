import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'

export function defineServiceEntries(sequelize: Sequelize) {
  class ServiceEntry extends Model<InferAttributes<ServiceEntry>, InferCreationAttributes<ServiceEntry>> {
    declare id: string
    declare environment: string
    declare slug: string
    declare appId: string
    declare title: string
    declare contexts: string[]
    declare icon: string
    declare scopes: { name: string; meaning: string }[]
    declare asks: string[]
    declare widgetAudience: string | null
    declare lifecycle: string
    /** Role, such as `graphql` or `rest`, to address. */
    declare addresses: Record<string, string>
    /** `platform`, or the organization that entered it. */
    declare owner: string
    declare version: number
    declare createdAt: Date
    declare updatedAt: Date
  }
  return ServiceEntry.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      environment: { type: DataTypes.TEXT, allowNull: false },
      slug: { type: DataTypes.TEXT, allowNull: false },
      appId: { type: DataTypes.TEXT, allowNull: false },
      title: { type: DataTypes.TEXT, allowNull: false },
      contexts: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
      icon: { type: DataTypes.TEXT, allowNull: false },
      scopes: { type: DataTypes.JSONB, allowNull: false },
      asks: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
      widgetAudience: DataTypes.TEXT,
      lifecycle: { type: DataTypes.TEXT, allowNull: false },
      addresses: { type: DataTypes.JSONB, allowNull: false },
      owner: { type: DataTypes.TEXT, allowNull: false },
      version: { type: DataTypes.INTEGER, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      updatedAt: { type: DataTypes.DATE, allowNull: false },
    },
    { sequelize, schema: 'identity', tableName: 'service_entries', underscored: true, timestamps: false },
  )
}

export type ServiceEntryRow = InferAttributes<InstanceType<ReturnType<typeof defineServiceEntries>>>
