import { changesNothing, checkVersion, write } from '../../../store/write.ts'
import { actorOf, isPerson, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, UpdateOrganizationSettingsInput, UpdatePersonSettingsInput } from '../../resolvers.generated.ts'
import { requireOrganization } from '../place.ts'
import { defaults, organizationChanges, personChanges } from './rules.ts'

const readOf = async ({ viewer, personSettings, organizationSettings }: Context) => {
  const [person, organization] = await Promise.all([
    isPerson(viewer) ? personSettings.byId.load(viewer.userId) : null,
    organizationSettings.find(viewer.organizationId),
  ])
  return {
    person: isPerson(viewer) ? (person ?? { ...defaults.person, version: 0 }) : null,
    organization: viewer.organizationId ? (organization ?? { ...defaults.organization, version: 0 }) : null,
  }
}

async function updatePerson(context: Context, { expectedVersion, ...input }: UpdatePersonSettingsInput): Promise<void> {
  const { viewer, personSettings: settings } = context
  const id = requirePerson(viewer)
  const changes = personChanges(input)
  await write(context, {
    async run({ transaction, now }) {
      const present = await settings.lockOf(id, transaction)
      checkVersion(present?.version ?? 0, expectedVersion, settings.what)
      if (changesNothing(present ?? defaults.person, changes)) return null
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      if (!present) return settings.insert({ id, ...defaults.person, ...changes, ...stamps }, transaction)
      return settings.update(present, { ...changes, updatedAt: now, version: present.version + 1 }, transaction)
    },
    audit: () => ({ tenantId: viewer.organizationId ?? id, action: 'person_settings.updated', subjectId: id, details: { changed: Object.keys(changes) } }),
  })
}

async function updateOrganization(context: Context, { expectedVersion, ...input }: UpdateOrganizationSettingsInput): Promise<void> {
  const { viewer, organizationSettings: settings, isDevelopment } = context
  const id = requireOrganization(viewer, 'Settings for everybody')
  const changes = organizationChanges(input, isDevelopment)
  await write(context, {
    async run({ transaction, now }) {
      const present = await settings.lockOf(id, transaction)
      checkVersion(present?.version ?? 0, expectedVersion, settings.what)
      if (changesNothing(present ?? defaults.organization, changes)) return null
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      if (!present) return settings.insert({ id, ...defaults.organization, ...changes, ...stamps }, transaction)
      return settings.update(present, { ...changes, updatedAt: now, version: present.version + 1 }, transaction)
    },
    audit: () => ({ tenantId: id, action: 'organization_settings.updated', subjectId: id, details: { changed: Object.keys(changes) } }),
  })
}

export const settingsResolvers: Resolvers = {
  Query: {
    launcherSettings: (_, __, context) => readOf(context),
  },
  Mutation: {
    async updatePersonSettings(_, { input }, context) {
      await updatePerson(context, input)
      return readOf(context)
    },
    async updateOrganizationSettings(_, { input }, context) {
      await updateOrganization(context, input)
      return readOf(context)
    },
  },
}
