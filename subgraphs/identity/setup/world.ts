import type { Scope } from '../../scopes.ts'
import type { Role } from '../stores/user.ts'

/** The people, organizations and keys to create. People are known by address, organizations by slug, keys by name within theirs. */
export interface World {
  /** Password of every new person; it is hashed once. Null when people sign in elsewhere. */
  readonly password: string | null
  /** People; a named recovery address counts as verified. */
  readonly people: readonly { readonly email: string; readonly name: string; readonly recovery?: string }[]
  readonly organizations: readonly {
    readonly slug: string
    readonly name: string
    readonly members: readonly { readonly email: string; readonly roles: readonly Role[] }[]
  }[]
  /** Members for whom keys act, identified by name within their organization. */
  readonly serviceAccounts?: readonly {
    /** Slug of its organization. */
    readonly organization: string
    readonly name: string
    readonly roles: readonly Role[]
  }[]
  readonly keys: readonly {
    /** Slug of its organization. */
    readonly organization: string
    readonly name: string
    readonly scopes: readonly Scope[]
    /** Address of the person who made it. */
    readonly createdBy: string
    /** Whether to revoke the existing key of this name and create another. @default false */
    readonly reissue?: boolean
  }[]
}
