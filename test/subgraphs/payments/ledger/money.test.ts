import { expect, it } from 'vitest'
import { createTestDatabase } from '../../../kit/database.ts'

it('no column of payments holds a fraction', async () => {
  await using database = await createTestDatabase()
  const [columns] = await database.sequelize.query(
    `select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'payments' and data_type in ('real', 'double precision', 'numeric', 'money')`,
  )
  expect(columns).toEqual([])
})
