import { integer, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { store } from '../../../store/store.ts'

/** Files at the processor that evidence of a dispute may name. */
export const disputeFiles = table('payments.dispute_files', {
  disputeId: uuid.key,
  /** Also the key of its call to the processor. */
  id: uuid.key,
  organizationId: uuid,
  /** What the processor calls it: `file_…`. */
  processorId: text,
  name: text,
  contentType: text,
  bytes: integer,
  ...stamps,
})

export type DisputeFileRow = Row<typeof disputeFiles>

export const disputeFileStore = store(disputeFiles, {
  what: 'file of a dispute',
  tenancy: { by: 'organizationId' },
  manyBy: { disputeId: 't.created_at, t.id' },
})

/** Files as they are opened for an operation, or for a job. */
export type DisputeFiles = ReturnType<(typeof disputeFileStore)['open']>
