import { integer, json, type Row, stamps, table, uuid } from '../../../../platform/sql/table.ts'
import { store } from '../../../store/store.ts'
import type { Problem } from '../../network/content/check.ts'
import { brands } from '../brand.ts'

/** Result of a row of a file. */
export interface ImportReportRow {
  /** Number of the line on which the row begins; the header is line 1. */
  readonly row: number
  readonly status: 'CREATED' | 'VALID' | 'INVALID'
  readonly postId: string | null
  readonly problems: readonly (Omit<Problem, 'code'> & { readonly code: string })[]
}

/** Imported files of posts, stored as long as the same key returns their report. */
export const imports = table('publishing.post_imports', {
  brandId: uuid.key,
  id: uuid.key,
  created: integer,
  report: json.of<readonly ImportReportRow[]>(),
  ...stamps,
})

export type ImportRow = Row<typeof imports>

export const importStore = store(imports, { what: 'import', tenancy: { through: brands, owner: 'organizationId', by: 'brandId' } })
