import { UniqueConstraintError } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { change, write } from '../../store/write.ts'
import { actorOf, requirePerson } from '../../viewer.ts'
import { isAdded, requireManager, requireOrganization } from '../membership/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { announceViewer } from '../session/announce.ts'
import { canSee, filterOf, isCreated, isRenamed, mayAskFor, readName, readNamed, readSlug } from './rules.ts'

export const organizationResolvers: Resolvers = {
  Query: {
    async organization(_, asked, { viewer, organizations }) {
      const named = readNamed(asked)
      const id = 'id' in named ? named.id : await organizations.idOf(named.slug)
      const organization = id !== null && mayAskFor(viewer, id) ? await organizations.byId.load(id) : null
      if (organization) return organization
      throw new DomainError('NOT_FOUND', 'There is no such organization among those that you may see.', { field: 'id' in named ? 'id' : 'slug' })
    },
    organizations: (_, { search, ...page }, { viewer, listedOrganizations }) => {
      const userId = requirePerson(viewer)
      return listedOrganizations.filtered(filterOf({ ...viewer, userId }, search), page)
    },
  },

  Organization: {
    // An organization that is not active is visible only through the viewer's membership.
    __resolveReference: ({ id }, { viewer, organizations }) => (canSee(viewer, id) ? organizations.byId.load(id) : null),
    memberships: ({ id }, page, { viewer, memberships }) => {
      if (!canSee(viewer, id)) throw new DomainError('NOT_FOUND', 'The members of an organization are seen from inside: switch to it first.')
      return memberships.page('ofOrganization', id, page)
    },
  },
  Mutation: {
    async createOrganization(_, { input }, context) {
      const { viewer, organizations, memberships, quotas, events } = context
      const person = requirePerson(viewer)
      const { slug, name } = { slug: readSlug(input.slug), name: readName(input.name) }
      const most = { inAll: quotas.organizationsAPerson, aDay: quotas.organizationsADay }
      const made = await write(context, {
        async run({ transaction, now }) {
          requireQuota(await organizations.madeBy(person, now, transaction), most, 'organizations that you created', 'work in one of them', now)
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          const organization = await organizations.insert({ id: newId(now), slug, name, ...stamps }, transaction)
          const owner = { organizationId: organization.id, id: newId(now), userId: person, roles: ['owner'], ...stamps }
          return { organization, owner: await memberships.insert(owner, transaction) }
        },
        audit: ({ organization: { id } }) => ({ tenantId: id, action: 'organization.created', subjectId: id, personId: person }),
        facts: ({ organization, owner }) => [isCreated(organization, person), isAdded({ ...owner, kind: 'human' })],
        announce: () => announceViewer(events, person),
      }).catch(error => {
        if (!(error instanceof UniqueConstraintError)) throw error
        throw new DomainError('CONFLICT', `The slug "${slug}" is taken: choose another.`, { field: 'slug' })
      })
      return made.organization
    },

    async updateOrganization(_, { input }, context) {
      requirePerson(context.viewer)
      const id = requireOrganization(context.viewer)
      requireManager(context.viewer, 'rename it')
      const name = readName(input.name)
      return change(context, {
        of: context.organizations,
        id,
        expectedVersion: input.expectedVersion,
        decide: () => ({ name }),
        audit: () => ({ tenantId: id, action: 'organization.updated', subjectId: id }),
        facts: ({ after }) => [isRenamed(after)],
      })
    },
  },
}
