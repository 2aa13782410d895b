import { UniqueConstraintError } from 'sequelize'
import { Refusal } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { write } from '../../store/write.ts'
import { actorOf, requirePerson } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { canSee, isCreated, readName, readSlug } from './rules.ts'

export const organizationResolvers: Resolvers = {
  Organization: {
    // One that the viewer could switch to is seen through its membership alone.
    __resolveReference: ({ id }, { viewer, organizations }) => (canSee(viewer, id) ? organizations.byId.load(id) : null),
    memberships: ({ id }, page, { viewer, memberships }) => {
      if (!canSee(viewer, id)) throw new Refusal('NOT_FOUND', 'The members of an organization are seen from inside: switch to it first.')
      return memberships.page('ofOrganization', id, page)
    },
  },
  Mutation: {
    async createOrganization(_, { input }, context) {
      const { viewer, organizations, memberships, quotas } = context
      const person = requirePerson(viewer)
      const { slug, name } = { slug: readSlug(input.slug), name: readName(input.name) }
      const most = { inAll: quotas.organizationsAPerson, aDay: quotas.organizationsADay }
      return write(context, {
        async run({ transaction, now }) {
          requireQuota(await organizations.madeBy(person, now, transaction), most, 'organizations that you created', 'work in one of them', now)
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          const organization = await organizations.insert({ id: newId(now), slug, name, ...stamps }, transaction)
          await memberships.insert({ organizationId: organization.id, id: newId(now), userId: person, roles: ['owner'], ...stamps }, transaction)
          return organization
        },
        audit: ({ id }) => ({ tenantId: id, action: 'organization.created', subjectId: id }),
        tell: organization => [isCreated(organization)],
      }).catch(error => {
        if (!(error instanceof UniqueConstraintError)) throw error
        throw new Refusal('CONFLICT', `The slug "${slug}" is taken: choose another.`, { field: 'slug' })
      })
    },
  },
}
