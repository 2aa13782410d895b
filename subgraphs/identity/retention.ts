import type { Aging } from '../../platform/jobs/retention.ts'
import { agingOfKeys, agingOfRecord } from '../store/books.ts'

/** For how many days records are kept that nothing rests on any more. */
export interface Retention {
  /** Of the audit. */
  readonly auditDays: number
}

/** What identity does not keep for ever. Addresses of sign-in and failures are bounded where they are counted. */
export const agingOf = ({ auditDays }: Retention): readonly Aging[] => [
  agingOfRecord('identity', auditDays),
  agingOfKeys('identity'),
  { table: 'identity.sessions', key: 'id', days: 1, old: 'o.expires_at < $1', order: 'o.expires_at' },
  {
    table: 'identity.verifications',
    key: 'id',
    days: 1,
    // The next form of the set-up page takes back whom the former one made, however late it comes.
    old: `o.expires_at < $1 and o.identifier <> 'setup person'`,
    order: 'o.expires_at',
  },
]
