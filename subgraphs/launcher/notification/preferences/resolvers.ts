import { newId } from '../../../../platform/ids.ts'
import { checkVersion, write } from '../../../store/write.ts'
import { actorOf, isPerson, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { nextDigest, quietEnd } from '../../engines/notify/quiet.ts'
import type { Resolvers, UpdateNotificationPreferencesInput } from '../../resolvers.generated.ts'
import type { PreferencesRow } from '../../stores/inbox/notification-preferences.ts'
import { settled, shown, unsettled } from './rules.ts'

async function update(context: Context, { expectedVersion, ...given }: UpdateNotificationPreferencesInput): Promise<PreferencesRow> {
  const { viewer, notificationPreferences: preferences, messages, mailAlarm, digestAlarm } = context
  const userId = requirePerson(viewer)
  return write(context, {
    async run({ transaction, now }) {
      const present = await preferences.lockOf(userId, transaction)
      checkVersion(present?.version ?? 0, expectedVersion, preferences.what)
      const wanted = settled(present ?? unsettled, given)
      // A digest that is due is sent, whatever else changes.
      const isDue = wanted.digest.frequency !== 'OFF' && present?.digestAt && present.digestAt <= now
      const changes = { ...wanted, digestAt: isDue ? present.digestAt : nextDigest(wanted, now) }
      // What waits for the end of quiet hours waits for their new end.
      const until = quietEnd(changes, now) ?? now
      await messages.requiet(userId, until, transaction)
      transaction.afterCommit(() => {
        mailAlarm.at(until)
        if (changes.digestAt) digestAlarm.at(changes.digestAt)
      })
      if (present) return preferences.update(present, { ...changes, updatedAt: now, version: present.version + 1 }, transaction) as Promise<PreferencesRow>
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      return preferences.insert({ id: newId(now), userId, ...changes, ...stamps }, transaction) as Promise<PreferencesRow>
    },
    audit: ({ id }) => ({ tenantId: userId, action: 'notification_preferences.updated', subjectId: id }),
  })
}

export const preferencesResolvers: Resolvers = {
  Query: {
    async notificationPreferences(_, __, { viewer, notificationPreferences }) {
      if (viewer.userId === null || !isPerson(viewer)) return null
      return shown((await notificationPreferences.of(viewer.userId)) ?? { ...unsettled, version: 0 })
    },
  },
  Mutation: {
    updateNotificationPreferences: async (_, { input }, context) => shown(await update(context, input)),
  },
}
