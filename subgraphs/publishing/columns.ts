import type { Model, ModelStatic } from 'sequelize'

/**
 * The select list of a table for statements that are written by hand: every column under its attribute's name.
 * @param alias the table's alias in the statement
 */
export function columnsOf<M extends Model>(table: ModelStatic<M>, alias: string): string {
  return Object.entries(table.getAttributes())
    .map(([name, { field }]) => `${alias}.${field ?? name} as "${name}"`)
    .join(', ')
}
