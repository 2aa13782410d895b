import type { Account } from '../../oauth/world.ts'

/** A page or a group of an account; its id is derived from the account's, so that it is the same at each login. */
export interface FacebookPlace {
  readonly kind: 'page' | 'group'
  readonly id: string
  readonly name: string
}

const idOf = ({ id }: Account, kind: number): string => `${kind}${id.slice(-12)}`

export const pagesOf = (account: Account): readonly FacebookPlace[] => [
  { kind: 'page', id: idOf(account, 11), name: account.name },
  { kind: 'page', id: idOf(account, 12), name: `${account.name} Shop` },
]

export const groupOf = (account: Account): FacebookPlace => ({ kind: 'group', id: idOf(account, 21), name: `Friends of ${account.name}` })

export const placeWithId = (account: Account, id: string): FacebookPlace | undefined => [...pagesOf(account), groupOf(account)].find(place => place.id === id)
