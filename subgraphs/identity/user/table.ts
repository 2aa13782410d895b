import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'

/** People, as better-auth keeps them; we read its table and write it only when a person is provisioned. */
export function defineUsers(sequelize: Sequelize) {
  class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
    declare id: string
    declare name: string
    declare email: string
    declare emailVerified: boolean
    declare image: CreationOptional<string | null>
    declare createdAt: Date
    declare updatedAt: Date
  }
  return User.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      email: { type: DataTypes.TEXT, allowNull: false },
      emailVerified: { type: DataTypes.BOOLEAN, allowNull: false },
      image: DataTypes.TEXT,
      createdAt: { type: DataTypes.DATE, allowNull: false },
      updatedAt: { type: DataTypes.DATE, allowNull: false },
    },
    { sequelize, schema: 'identity', tableName: 'users', underscored: true, timestamps: false },
  )
}

export type UserRow = InferAttributes<InstanceType<ReturnType<typeof defineUsers>>>
