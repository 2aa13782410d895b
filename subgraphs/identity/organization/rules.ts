import { Refusal } from '../../../platform/errors.ts'
import { requireName } from '../../../platform/ids.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import type { Viewer } from '../../viewer.ts'
import { platformOrganization } from '../stores/roles.ts'

const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** @throws BAD_USER_INPUT unless it is a name of 1 to 120 characters; surrounding blanks are dropped */
export const readName = (name: string, field = 'name', most = 120): string => requireName(name, field, most)

/**
 * Checks a new organization's slug.
 * @throws BAD_USER_INPUT for another form, FORBIDDEN for the platform's own slug, which only set-up creates
 */
export function readSlug(slug: string): string {
  if (!slugForm.test(slug))
    throw new Refusal('BAD_USER_INPUT', 'slug takes 1 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends.', { field: 'slug' })
  if (slug === platformOrganization)
    throw new Refusal('FORBIDDEN', `"${platformOrganization}" is the platform's own organization: choose another.`, { field: 'slug' })
  return slug
}

/** Whether the viewer may follow a reference to an organization: it sees the one it works in. */
export const canSee = (viewer: Pick<Viewer, 'organizationId'>, organizationId: string): boolean => viewer.organizationId === organizationId

/** What other services are told of a new organization: each begins what it keeps for it. */
export const isCreated = ({ id, slug, name }: { readonly id: string; readonly slug: string; readonly name: string }): NewFact => ({
  kind: 'organization.created',
  body: { organizationId: id, slug, name },
})
