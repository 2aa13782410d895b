import { Refusal } from '../../../platform/errors.ts'
import { requireRoom } from '../../../platform/limit.ts'
import { readPage } from '../../../platform/page.ts'
import { membershipOrder } from '../membership/store.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { requirePerson } from '../viewer/rules.ts'
import { canSee, readName, readSlug } from './rules.ts'

export const organizationResolvers: Pick<Resolvers, 'Organization'> & { Mutation: Pick<NonNullable<Resolvers['Mutation']>, 'createOrganization'> } = {
  Organization: {
    __resolveReference: ({ id }, { viewer, organizations }) => (canSee(viewer, id) ? organizations.byId.load(id) : null),
    memberships: ({ id }, page, { viewer, memberships }) => {
      if (!canSee(viewer, id)) throw new Refusal('NOT_FOUND', 'The members of an organization are seen from inside: switch to it first.')
      return memberships.ofOrganization(id, readPage(page, membershipOrder))
    },
  },
  Mutation: {
    async createOrganization(_, { input }, { viewer, organizations, quotas, now }) {
      const person = requirePerson(viewer)
      const organization = { slug: readSlug(input.slug), name: readName(input.name) }
      const at = now()
      const most = { inAll: quotas.organizationsAPerson, aDay: quotas.organizationsADay }
      const created = await organizations.create(organization, person, at, made =>
        requireRoom(made, most, 'organizations that you created', 'work in one of them', at),
      )
      if (!created) throw new Refusal('CONFLICT', `The slug "${organization.slug}" is taken: choose another.`, { field: 'slug' })
      return created
    },
  },
}
