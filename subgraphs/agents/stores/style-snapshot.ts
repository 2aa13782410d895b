import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, type Row, selectList, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'
import { type SpeakingStyle, seenWithProfile, type WritingStyle } from './person-profile.ts'

/** What is counted in texts; quotients with two decimals. */
export interface Measures {
  readonly words: number
  readonly sentences: number
  readonly wordsPerSentence: number
  readonly questionShare: number
  readonly exclamationShare: number
  readonly typeTokenRatio: number
}

export const styleSnapshots = table('agents.style_snapshots', {
  profileId: uuid.key,
  id: uuid.key,
  number: integer,
  sourceIds: texts,
  writingStyle: json.of<WritingStyle>(),
  speakingStyle: json.of<SpeakingStyle>(),
  measures: json.of<Measures>(),
  summary: text.maybe,
  model: text.maybe,
  /** Of style and texts: what has the same would be the same snapshot again. */
  digest: text,
  ...stamps,
})

export type StyleSnapshotRow = Row<typeof styleSnapshots>

const newest = statement(`select ${selectList(styleSnapshots, 't')} from agents.style_snapshots t where t.profile_id = $1 order by t.number desc limit 1`)

const writtenToday = countByCaller(styleSnapshots)

/** Returns the statements that only snapshots have. */
const styleSnapshotSql = (rows: Rows<typeof styleSnapshots>) => ({
  /** The newest of a profile, for whoever may see that; whoever holds the profile may rely on it. */
  async newestOf(profileId: string, transaction?: Transaction): Promise<StyleSnapshotRow | null> {
    const [found] = await rows.read(newest, [profileId], transaction)
    return found ?? null
  },

  madeBy: writtenToday(rows),
})

export const styleSnapshotStore = store(
  styleSnapshots,
  {
    what: 'style snapshot',
    tenancy: { where: seenWithProfile },
    // Each snapshot may contain 128 KiB.
    lists: { ofProfile: { below: 'profileId', order: 'newest first', most: 500 } },
  },
  styleSnapshotSql,
)
