import { idOfName } from '../../../../platform/ids.ts'
import type { Deletion, Run } from '../../../store/removal.ts'
import { write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'

const name = 'Demo Home'

/** Who makes the household; people make none by this name. */
const maker = 'system:demo'

/** Creates the household of the demo's owner and member, once and selected by neither. Who left it stays away. */
export async function provideHousehold(job: Job, { userId, memberId }: { readonly userId: string; readonly memberId: string }): Promise<void> {
  const id = idOfName(userId, `household ${name}`)
  const members = [
    { householdId: id, userId, name: 'Olivia Owner', role: 'OWNER' },
    { householdId: id, userId: memberId, name: 'Mia Member', role: 'ADULT' },
  ] as const
  await write(job, {
    async run({ transaction, now }) {
      await job.households.lockMembers(id, transaction)
      if (await job.households.lock(id, transaction)) return
      await job.households.insert({ id, name, createdAt: now, updatedAt: now, createdBy: maker }, transaction)
      // Members are listed by age.
      for (const [at, member] of members.entries()) await job.households.join({ ...member, joinedAt: new Date(now.getTime() + at) }, transaction)
    },
  })
}

/** Deletions of the demo's household, with its members and invitations. */
export const demoDeletions = async (_run: Run): Promise<readonly Deletion[]> => [
  { sql: 'delete from launcher.households where created_by = $1', bind: [maker] },
]
