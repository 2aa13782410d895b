import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Door, openDoor } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const password = 'correct horse battery'
const emails = ['owner@test.test', 'guest@test.test'] as const

let graph: Supergraph
let door: Door

beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

type Credentials = Readonly<Record<string, string>>

async function ask(query: string, headers: Credentials) {
  const { status, json, text } = await door.ask('POST', '/graphql', { headers, body: { query } })
  if (status !== 200 || json.errors) throw new Error(`${query} answered ${status} ${text}`)
  return json.data
}

const bearer = (token: string): Credentials => ({ authorization: `Bearer ${token}` })
const who = async (credentials: Credentials) => (await ask('{ viewer { roles organization { slug } } }', credentials)).viewer
const switched = async (to: string, credentials: Credentials) =>
  bearer((await ask(`mutation { switchOrganization(input: { organizationId: "${to}" }) { accessToken } }`, credentials)).switchOrganization.accessToken)

describe('a token that was just issued', () => {
  let slug = ''
  let owner: Credentials
  let guest: Credentials
  let guestCookie: string
  let organizationId: string

  beforeEach(async () => {
    slug = `new-${graph.clock.now().getTime()}-${Math.floor(performance.now())}`
    const members = emails.map(email => ({ email, roles: ['owner' as const] }))
    await graph.platform.identity.provision({
      password,
      people: emails.map(email => ({ email, name: email })),
      organizations: [{ slug: 'home', name: 'Home', members }],
      keys: [],
    })
    const entered = await door.ask('POST', '/identity/api/auth/sign-in/email', { body: { email: emails[1], password } })
    guestCookie = String([entered.headers['set-cookie']].flat()[0]).split(';')[0]!
    guest = bearer(entered.json.accessToken)
    owner = await door.signIn(emails[0], password)
    const home = (await ask('{ memberships { nodes { organization { id slug } } } }', owner)).memberships.nodes.find(
      ({ organization }: { organization: { slug: string } }) => organization.slug === 'home',
    )
    owner = await switched(home.organization.id, owner)
    // From here on the router caches both sessions.
    await Promise.all([who(owner), who(guest)])
    organizationId = (await ask(`mutation { createOrganization(input: { name: "New", slug: "${slug}" }) { id } }`, owner)).createOrganization.id
    owner = await switched(organizationId, owner)
  })

  test('is good at once for an organization that was just created', async () => {
    expect(await who(owner)).toEqual({ roles: ['OWNER'], organization: { slug } })
  })

  test('is good at once for a membership that was just added, and carries the roles that were just changed', async () => {
    await who(guest)
    const added = (await ask(`mutation { addMember(input: { email: "${emails[1]}", roles: [VIEWER] }) { id } }`, owner)).addMember
    guest = await switched(organizationId, guest)
    expect(await who(guest)).toEqual({ roles: ['VIEWER'], organization: { slug } })
    await ask(`mutation { changeMemberRoles(input: { id: "${added.id}", roles: [ADMIN] }) { id } }`, owner)
    const renewed = await door.ask('GET', '/identity/api/auth/token', { headers: { cookie: guestCookie } })
    expect(await who(bearer(renewed.json.accessToken))).toEqual({ roles: ['ADMIN'], organization: { slug } })
  })
})
