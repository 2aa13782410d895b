import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, all, change, constant, type RouteRow, row } from '../../../../access/row.ts'

const read: readonly Scope[] = ['launcher:launcher.read']
//                                  anonymous key     other   viewer   member   owner    outsider
const elsewhere /*             */ = 'refused refused refused CONFLICT CONFLICT CONFLICT CONFLICT'
const elsewhereByRoute /*      */ = 'refused refused refused nothing  nothing  nothing  nothing'

/** Of nothing: whoever asks in an organization is refused before anything is looked for. */
const id = '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e'
const ofOne = () => `id: "${id}"`
const below = `householdId: "${id}"`
const email = 'guest@home.test'

const query = (name: string, document: string) => row(`Query.${name}`, all, read, elsewhere, constant(document), name)
const mutation = (name: string, input: () => string, selection = 'id') => row(`Mutation.${name}`, all, read, elsewhere, change(name, input, selection), name)

const api = '/launcher/api/households'
const route = (method: string, at: string, body?: object): RouteRow => ({
  ...{ at: `${method} ${at}`, scopes: all, less: read, cells: elsewhereByRoute },
  path: () => at.replace(/:\w+/g, id),
  ...(body && { body: () => body }),
})

export const access: AccessRows = {
  fields: [
    query('households', '{ households { id } }'),
    query('household', `{ household(id: "${id}") { id } }`),
    query('householdInvitations', '{ householdInvitations { id } }'),
    row('HouseholdMember.user', all, read, elsewhere, constant('{ households { members { user { id } } } }'), 'households'),
    mutation('createHousehold', () => 'name: "Home"'),
    mutation('updateHousehold', () => `${ofOne()}, name: "Home"`),
    mutation('deleteHousehold', ofOne),
    mutation('inviteToHousehold', () => `${below}, email: "${email}", role: CHILD`),
    mutation('acceptHouseholdInvitation', ofOne),
    mutation('declineHouseholdInvitation', ofOne),
    mutation('withdrawHouseholdInvitation', ofOne),
    mutation('changeHouseholdRole', () => `${below}, userId: "${id}", role: CHILD`),
    mutation('removeHouseholdMember', () => `${below}, userId: "${id}"`),
    mutation('selectHousehold', ofOne, 'context'),
  ],
  routes: [
    route('GET', api),
    route('POST', api, { name: 'Home' }),
    route('GET', `${api}/:id`),
    route('PUT', `${api}/:id`, { name: 'Home' }),
    route('DELETE', `${api}/:id`),
    route('GET', `${api}/invitations`),
    route('POST', `${api}/:householdId/invitations`, { email, role: 'child' }),
    route('POST', `${api}/invitations/:id/acceptance`),
    route('POST', `${api}/invitations/:id/decline`),
    route('POST', `${api}/invitations/:id/withdrawal`),
    route('PUT', `${api}/:householdId/members/:userId`, { role: 'child' }),
    route('DELETE', `${api}/:householdId/members/:userId`),
    route('PUT', '/launcher/api/workspace/household', { id }),
  ],
}
