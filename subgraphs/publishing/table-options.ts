import type { InitOptions, Model, Sequelize } from 'sequelize'

/** How every table of publishing is mapped: snake-case columns in its own schema, times written by us and not by Sequelize. */
export const tenantOptions = <M extends Model>(sequelize: Sequelize, tableName: string): InitOptions<M> => ({
  sequelize,
  schema: 'publishing',
  tableName,
  modelName: tableName,
  underscored: true,
  timestamps: false,
})
