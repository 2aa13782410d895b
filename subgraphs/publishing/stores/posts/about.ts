import { rows as ask } from '../../../../platform/sql/statement.ts'
import type { Openable } from '../../../store/store.ts'
import { approvalLoader } from './approval.ts'
import type { PostReads } from './of-brand.ts'
import { sameWordsLoader } from './same-words.ts'
import { versionLoader } from './version.ts'

/** Loads records about posts for one operation. The caller must have checked the right to the post or the brand. */
interface About {
  readonly sameWords: ReturnType<typeof sameWordsLoader>
  readonly versions: ReturnType<typeof versionLoader>
  readonly approvalEvents: ReturnType<typeof approvalLoader>
}

export const aboutPosts: Openable<About> = {
  open({ sequelize, reading }) {
    const reads: PostReads = {
      read: (statement, values, transaction) => ask(sequelize, statement, values, transaction, transaction ? undefined : reading) as never,
    }
    return {
      sameWords: sameWordsLoader(reading, reads),
      versions: versionLoader(reading, reads),
      approvalEvents: approvalLoader(reading, reads),
    }
  },
}
