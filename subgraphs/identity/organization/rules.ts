import { DomainError } from '../../../platform/errors.ts'
import { requireId, requireName } from '../../../platform/ids.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import { isPerson, type Viewer } from '../../viewer.ts'
import type { OrganizationFilter } from '../stores/organization.ts'
import { platformOrganization, platformRoles } from '../stores/user.ts'

const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** @throws BAD_USER_INPUT unless it is a name of 1 to 120 characters, after trimming */
export const readName = (name: string, field = 'name', most = 120): string => requireName(name, field, most)

/**
 * Checks a new organization's slug.
 * @throws BAD_USER_INPUT for another form, FORBIDDEN for the platform's own slug, which only set-up creates
 */
export function readSlug(slug: string): string {
  if (!slugForm.test(slug))
    throw new DomainError('BAD_USER_INPUT', 'slug takes 1 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends.', {
      field: 'slug',
    })
  if (slug === platformOrganization)
    throw new DomainError('FORBIDDEN', `"${platformOrganization}" is the platform's own organization: choose another.`, { field: 'slug' })
  return slug
}

/** Whether the viewer may follow a reference to an organization: only to the active one. */
export const canSee = (viewer: Pick<Viewer, 'organizationId'>, organizationId: string): boolean => viewer.organizationId === organizationId

/**
 * Returns the fact about a new organization, for which other services create their records.
 * @param foundedBy the person who created it; left out for organizations that set-up creates
 */
export const isCreated = ({ id, slug, name }: { readonly id: string; readonly slug: string; readonly name: string }, foundedBy?: string): NewFact => ({
  kind: 'organization.created',
  body: { organizationId: id, slug, name, ...(foundedBy !== undefined && { foundedBy }) },
})

/** Returns the fact about a renamed organization. */
export const isRenamed = ({ id, slug, name }: { readonly id: string; readonly slug: string; readonly name: string }): NewFact => ({
  kind: 'organization.updated',
  body: { organizationId: id, slug, name },
})

/** How an organization is requested. */
export type Named = { readonly id: string } | { readonly slug: string }

/** @throws BAD_USER_INPUT unless exactly one of id and slug is given */
export function readNamed({ id, slug }: { readonly id?: string | null | undefined; readonly slug?: string | null | undefined }): Named {
  const isBoth = id !== null && id !== undefined && slug !== null && slug !== undefined
  if (!isBoth && id !== null && id !== undefined) return { id: requireId(id, 'id') }
  if (!isBoth && slug !== null && slug !== undefined) return { slug }
  throw new DomainError('BAD_USER_INPUT', `organization takes an id or a slug, ${isBoth ? 'not both' : 'and was given neither'}.`, {
    field: isBoth ? 'slug' : 'id',
  })
}

/** Returns the organizations that a person sees in a list: their own; platform administrators see all. */
export function filterOf(viewer: Viewer & { readonly userId: string }, search: string | null | undefined): OrganizationFilter {
  const isPlatforms = platformRoles.some(role => viewer.roles.includes(role))
  return { person: isPlatforms ? null : viewer.userId, search: search === null || search === undefined ? null : readName(search, 'search') }
}

/** Whether the viewer may request this organization: only people can switch, others have the active one. */
export const mayAskFor = (viewer: Viewer, id: string): boolean => isPerson(viewer) || canSee(viewer, id)
