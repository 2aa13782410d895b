import { DomainError } from '../../../../platform/errors.ts'
import { mapEvents } from '../../../../platform/events.ts'
import { checkVersion, write } from '../../../store/write.ts'
import { actorOf, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { InstallAppInput, Resolvers, UninstallAppInput } from '../../resolvers.generated.ts'
import { type InstallationRow, type Owner, ownerOf } from '../../stores/installation.ts'
import { requireEntry } from '../entry/rules.ts'
import { announceInstalled, install, lineOf } from './install.ts'
import { announceInstallation, factOf, otherContext, topicOf } from './rules.ts'

/** The owner of what a viewer installs. @throws BAD_USER_INPUT for a service that names no organization */
export function requireOwner(viewer: Viewer): Owner {
  const owner = ownerOf(viewer)
  if (owner) return owner
  throw new DomainError('BAD_USER_INPUT', 'Apps are installed in an organization: say which in X-Organization-Id.', { field: 'X-Organization-Id' })
}

async function installApp(context: Context, input: InstallAppInput): Promise<InstallationRow> {
  const { viewer, catalogEntries, installations } = context
  const owner = requireOwner(viewer)
  const found = await catalogEntries.ofApp(input.app)
  if (!found && (await catalogEntries.isElsewhere(input.app))) throw otherContext(input.app, viewer.context)
  const entry = requireEntry(found, input.app)
  const installer = { owner, userId: viewer.userId, actor: actorOf(viewer), once: input }
  const { row } = await write(context, {
    run: unit => install(context, entry, installer, unit),
    announce: made => announceInstalled(context, made),
  })
  installations.forget()
  context.entitlements.forget()
  return row
}

async function uninstallApp(context: Context, { app, expectedVersion }: UninstallAppInput): Promise<InstallationRow> {
  const { viewer, installations, events } = context
  const owner = requireOwner(viewer)
  const row = await write(context, {
    async run({ transaction, now }) {
      const present = await installations.lockOf(owner, app, transaction)
      if (!present) throw new DomainError('NOT_FOUND', `${app.slice(0, 80)} is not installed in the active context.`, { app: app.slice(0, 80) })
      checkVersion(present.version, expectedVersion, installations.what)
      return installations.update(present, { removedAt: now, updatedAt: now, version: present.version + 1 }, transaction)
    },
    audit: row => lineOf('app.uninstalled', row),
    facts: row => factOf('app.uninstalled', row, viewer.userId),
    announce: row => announceInstallation(events, row),
  })
  installations.forget()
  context.entitlements.forget()
  return row
}

export const installationResolvers: Resolvers = {
  Query: {
    installations: async (_, __, { installations }) => [...(await installations.standing()).values()],
  },
  Mutation: {
    installApp: (_, { input }, context) => installApp(context, input),
    uninstallApp: (_, { input }, context) => uninstallApp(context, input),
  },
  Subscription: {
    installationChanged: {
      subscribe: (_, __, { viewer, events }) => mapEvents(events.listen([topicOf(requireOwner(viewer))]), event => ({ id: event.id! })),
      // Read for each event, so the viewer's present rights apply.
      resolve: ({ id }: { id: string }, _: unknown, { installations }: Context) => installations.byId.load(id),
    },
  },
  Installation: {
    __resolveReference: ({ id }, { installations }) => installations.byId.load(id),
    entry: ({ app }, _, { catalogEntries }) => catalogEntries.ofApp(app),
    context: ({ organizationId }) => (organizationId ? 'ORGANIZATION' : 'PERSONAL'),
    organization: ({ organizationId }) => (organizationId ? { __typename: 'Organization', id: organizationId } : null),
    installedBy: ({ installedBy }) => (installedBy ? { __typename: 'User', id: installedBy } : null),
  },
}
