import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly id: string
}

const accounts: Record<string, { name: string; mail: string | null; street: string }> = {
  x1: { name: 'Ada', mail: 'ada@example.test', street: 'First' },
  x2: { name: 'Bob', mail: null, street: 'Second' },
}
const account = (id: string) => ({ __typename: 'Account', id })
const known = ({ id }: Ref) => (Object.hasOwn(accounts, id) ? account(id) : null)

const Query = {
  accounts: () => [account('x1'), account('gone'), account('x2')],
  matrix: () => [[account('x1'), null], [], [account('x2'), account('x1')]],
  find: (_: unknown, { by }: { by: { id?: string | null; names?: string[] } }) => (by.id ? known({ id: by.id }) : null),
  plans: () => ['FREE', 'PAID'],
}
const address = ({ id }: Ref) => accounts[id] && { street: accounts[id].street, city: { name: 'Linz', zip: '40' } }
const name = ({ id }: Ref) => accounts[id]?.name
const mail = ({ id }: Ref) => accounts[id]?.mail
const invoices = ({ id }: Ref, { last }: { last: number }) =>
  id === 'x1' ? [[{ number: 1, to: account('x2') }], [{ number: 2, to: null }, null]].slice(0, last) : id === 'x2' ? [] : null
const plan = ({ id }: Ref) => (id === 'x1' ? 'PAID' : null)
const tags = () => [['a', null], null]

/** Fields that moved to another subgraph, value types that several share, lists of lists, input objects, entities that are gone. */
export const moved: PurposeGraph = {
  parts: {
    old: {
      sdl: `type Query { accounts: [Account] matrix: [[Account]] find(by: By!): Account }
        input By { id: ID names: [String!] deep: By }
        type City @shareable { name: String! zip: String }
        type Address @shareable { street: String! city: City }
        type Account @key(fields: "id") { id: ID! name: String mail: String address: Address @shareable }`,
      resolvers: {
        Query: { accounts: Query.accounts, matrix: Query.matrix, find: Query.find },
        Account: { name, mail: () => 'the old one', address, __resolveReference: known },
      },
    },
    mails: {
      sdl: `type City @shareable { name: String! zip: String }
        type Address @shareable { street: String! city: City }
        type Account @key(fields: "id") { id: ID! mail: String @override(from: "old") address: Address @shareable tags: [[String]] }`,
      resolvers: { Account: { mail, address, tags: ({ id }: Ref) => (accounts[id] ? tags() : null), __resolveReference: known } },
    },
    billing: {
      sdl: `type Query { plans: [Plan!]! }
        enum Plan { FREE PAID }
        type Invoice { number: Int! to: Account }
        type Account @key(fields: "id") { id: ID! invoices(last: Int! = 2): [[Invoice]] plan: Plan }`,
      resolvers: { Query: { plans: Query.plans }, Account: { invoices, plan, __resolveReference: known } },
    },
  },
  whole: joined({ Query, Account: { name, mail, address, invoices, plan, tags: ({ id }: Ref) => (accounts[id] ? tags() : null) } }),
  values: { by: [{}, { id: 'x1' }, { id: 'none', names: ['a'] }, { id: 'x2', names: [], deep: { id: null } }], last: [0, 1, 5] },
}
