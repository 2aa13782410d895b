import type { Scope } from '../../scopes.ts'
import type { Role } from '../stores/user.ts'

/** The people, organizations and keys to create. People are known by address, organizations by slug, keys by name within theirs. */
export interface World {
  /** The password of every person who is not there yet; it is hashed once. Null: people sign in elsewhere. */
  readonly password: string | null
  /** With a recovery address, which counts as verified, where one is named. */
  readonly people: readonly { readonly email: string; readonly name: string; readonly recovery?: string }[]
  readonly organizations: readonly {
    readonly slug: string
    readonly name: string
    readonly members: readonly { readonly email: string; readonly roles: readonly Role[] }[]
  }[]
  /** Members for whom keys act, known by name within their organization. */
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
    /** Revokes the key of this name that is there, and makes another. @default false */
    readonly reissue?: boolean
  }[]
}
