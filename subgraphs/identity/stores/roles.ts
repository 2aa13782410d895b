/** Roles that every organization has, from most to least. */
export const organizationRoles = ['owner', 'admin', 'member', 'viewer'] as const

/** Roles over the whole platform: only members of the platform's own organization hold them. */
export const platformRoles = ['platform_super_admin', 'platform_admin'] as const

export type Role = (typeof organizationRoles)[number] | (typeof platformRoles)[number]

/** Slug of the organization whose members may hold platform roles. */
export const platformOrganization = 'admin'

export type UserKind = 'human' | 'service_account'

/** Kinds as the graph and facts spell them. */
export const userKindToGraph = { human: 'HUMAN', service_account: 'SERVICE_ACCOUNT' } as const satisfies Record<UserKind, string>
