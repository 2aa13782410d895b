import type { Ask } from '../../../../platform/ask.ts'
import type { Writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { NoticeRow } from '../../stores/inbox/notice.ts'
import { type Member, membersOf } from '../people/people.ts'
import { type Notifying, notify, type Posting } from './notify.ts'

/** Maximum notices of one run. */
const atOnce = 100

/** Delivers notices that wait, the oldest first; one that cannot be delivered leaves the others. @throws the first error, after all of them */
export async function deliverNotices(job: Writing & Notifying & Posting & { readonly ask: Ask }): Promise<Date | null> {
  const waiting = await job.notices.oldest(atOnce)
  const members = new Map<string, Promise<readonly Member[]>>()
  const errors: unknown[] = []
  for (const notice of waiting) {
    const { organizationId } = notice
    if (organizationId !== null && notice.audience !== 'person' && !members.has(organizationId)) members.set(organizationId, membersOf(job.ask, organizationId))
    try {
      await deliver(job, notice, recipientsOf(notice, organizationId === null ? [] : ((await members.get(organizationId)) ?? [])))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  if (waiting.length === atOnce) job.noticeAlarm.ring()
  return null
}

/** Returns the people whom a notice is for; service accounts are told nothing. */
function recipientsOf({ audience, userId }: NoticeRow, members: readonly Member[]): readonly string[] {
  if (audience === 'person') return [userId!]
  return members.filter(({ kind, isManager }) => kind === 'HUMAN' && (isManager || audience === 'organization')).map(member => member.userId)
}

/** Delivers one notice once, whichever process does. */
async function deliver(job: Writing & Notifying & Posting, { id }: NoticeRow, userIds: readonly string[]): Promise<void> {
  let announce: (() => void) | undefined
  await write(job, {
    async run(unit) {
      const notice = await job.notices.lockIfFree(id, unit.transaction)
      if (!notice) return null
      announce = await notify(job, notice, userIds, unit)
      await job.notices.remove(notice, unit.transaction)
      return notice
    },
    announce: () => announce?.(),
  })
}
