import type { InitOptions, Model, ModelStatic, Sequelize } from 'sequelize'

/** How every table of publishing is mapped: snake-case columns in its own schema, times written by us and not by Sequelize. */
export const tenantOptions = <M extends Model>(sequelize: Sequelize, tableName: string): InitOptions<M> => ({
  sequelize,
  schema: 'publishing',
  tableName,
  modelName: tableName,
  underscored: true,
  timestamps: false,
})

/**
 * The select list of a table for statements that are written by hand: every column under its attribute's name.
 * @param alias the table's alias in the statement
 */
export function columnsOf<M extends Model>(table: ModelStatic<M>, alias: string): string {
  return Object.entries(table.getAttributes())
    .map(([name, { field }]) => `${alias}.${field ?? name} as "${name}"`)
    .join(', ')
}
