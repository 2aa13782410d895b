import { scopesOf } from '../../scopes.ts'
import { organizationRoles, platformRoles, type Role } from '../stores/user.ts'

const meanings: Readonly<Record<Role, string>> = {
  platform_super_admin: 'Administers the platform. Exists only in the organization `admin`, which always keeps one.',
  platform_admin: 'Watches over the platform. Exists only in the organization `admin`.',
  owner: 'Everything the organization can do, and who owns it. An organization always keeps one.',
  admin: 'Everything the organization can do, but not over its owners.',
  member: 'Sees everything; writes posts, moves the calendar, starts agent runs, calls AI and opens payments.',
  viewer: 'Sees everything, changes nothing.',
}

/** Every role with its scopes, from most to least, for building forms. */
export const roleDefinitions = [...platformRoles, ...organizationRoles].map(role => ({
  role: role.toUpperCase() as Uppercase<Role>,
  meaning: meanings[role],
  scopes: scopesOf([role]),
}))
