import { DomainError } from '../../../platform/errors.ts'
import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly id: string
}

const start: Record<string, number> = { k1: 100, k2: 0 }
let balances = { ...start }
let entries: { id: string; account: string; amount: number }[] = []

const account = (id: string) => ({ __typename: 'Account', id })
const entry = (id: string) => ({ __typename: 'Entry', id })

function add(id: string, amount: number) {
  if (!Object.hasOwn(balances, id)) throw new DomainError('NOT_FOUND', `There is no account ${id}.`)
  if (balances[id]! + amount < 0) throw new DomainError('CONFLICT', `Account ${id} has too little.`)
  balances[id]! += amount
  entries.push({ id: `e${entries.length}`, account: id, amount })
  return entries.at(-1)!.id
}

const Query = { accounts: () => Object.keys(balances).map(account), entries: () => entries.map(({ id }) => entry(id)) }
const Mutation = {
  add: (_: unknown, { to, amount }: { to: string; amount: number }) => entry(add(to, amount)),
  transfer(_: unknown, { to, amount }: { to: string; amount: number }) {
    add('k1', -amount)
    add(to, amount)
    return [account('k1'), account(to)]
  },
  note: (_: unknown, { text }: { text?: string | null }) => text ?? 'none',
}
const Account = { balance: ({ id }: Ref) => balances[id] }
const entryOf = ({ id }: Ref) => entries.find(each => each.id === id)
const Entry = { amount: (source: Ref) => entryOf(source)!.amount, account: (source: Ref) => account(entryOf(source)!.account) }
const Audited = { count: ({ id }: Ref) => entries.filter(each => each.account === id).length, last: ({ id }: Ref) => lastOf(id) }
const lastOf = (id: string) => {
  const found = entries.findLast(each => each.account === id)
  return found ? entry(found.id) : null
}
const Named = { name: ({ id }: Ref) => (id === 'k1' ? 'Ada' : null), strict: ({ id }: Ref) => (id === 'k1' ? 'yes' : null) }

/** Mutations of three subgraphs, whose order shows in what later root fields and entity fetches of the same operation read. */
export const ledger: PurposeGraph = {
  parts: {
    ledger: {
      sdl: `type Query { accounts: [Account!] }
        type Mutation { add(to: ID!, amount: Int! = 1): Entry transfer(to: ID!, amount: Int!): [Account!] }
        type Account @key(fields: "id") { id: ID! balance: Int }
        type Entry @key(fields: "id") { id: ID! amount: Int! account: Account }`,
      resolvers: { Query: { accounts: Query.accounts }, Mutation: { add: Mutation.add, transfer: Mutation.transfer }, Account, Entry },
    },
    audit: {
      sdl: `type Query { entries: [Entry] }
        type Mutation { note(text: String): String }
        type Account @key(fields: "id") { id: ID! count: Int last: Entry }
        type Entry @key(fields: "id") { id: ID! }`,
      resolvers: { Query: { entries: Query.entries }, Mutation: { note: Mutation.note }, Account: Audited },
    },
    names: {
      sdl: 'type Account @key(fields: "id") { id: ID! name: String strict: String! }',
      resolvers: { Account: Named },
    },
  },
  whole: joined({ Query, Mutation, Account, Entry }, { Account: Audited }, { Account: Named }),
  values: { to: ['k1', 'k2', 'none'], amount: [1, 50, 500], text: [null, 'a'] },
  reset() {
    balances = { ...start }
    entries = []
  },
}
