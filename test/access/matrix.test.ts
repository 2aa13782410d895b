import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { deriveTables, type ServedRow } from '../../router/rest/derive/tables.ts'
import { pathOf } from '../../router/rest/row.ts'
import { routeTables } from '../../router/rest/tables.ts'
import type { Scope } from '../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { Answer } from '../kit/answer.ts'
import { type Door, openDoor } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { key, person } from '../kit/viewers.ts'
import { readSupergraphTypes } from '../schema/graph.ts'
import { appsOf, credentialsOfOthers } from './credentials.ts'
import { derivedRows, fieldsThatNeedRows } from './derived.ts'
import { makeAll, routeRows, fieldRows as written } from './matrix.ts'
import { mistakeAt, mistakeIn, otherNames, others, type World } from './others.ts'
import { type Column, columns, type FieldRow, type Ids, type Outcome, outcomes, type RouteRow, type Stage } from './row.ts'

const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'))
const types = readSupergraphTypes()
const derived = derivedRows(schema, types, written)
const fieldRows = [...written, ...derived]
const isSubscription = ({ at }: FieldRow) => at.startsWith('Subscription.')
const rows: readonly (FieldRow | RouteRow)[] = [...fieldRows, ...routeRows]
const cellsOf = ({ cells }: { cells: string }) => cells.split(/\s+/) as Outcome[]

describe('the access matrix is whole', () => {
  test('each root field, each field that leads to another type and each with a rule of its own has one row, and no row is stale', () => {
    expect(fieldRows.map(({ at }) => at).sort()).toEqual([...fieldsThatNeedRows(schema, types)].sort())
  })

  test('rows that follow from the rule of a type are optional; a field with a rule of its own, or of another type, needs one', () => {
    expect(derived.map(({ at }) => at)).toEqual(expect.arrayContaining(['BrandConnection.edges', 'BrandEdge.node', 'Post.author', 'ServiceEntry.addresses']))
    const ruled = ['Query.brands', 'User.email', 'Organization.brands', 'Post.brand', 'Post.connection', 'Viewer.user']
    const without = derivedRows(
      schema,
      types,
      written.filter(({ at }) => !ruled.includes(at)),
    )
    expect(without.map(({ at }) => at).filter(at => ruled.includes(at))).toEqual([])
  })

  test('each route has one row, and no row is stale', () => {
    const routes = routeTables.flatMap(({ slug, rows: own }) => own.map(row => `${row.method} ${pathOf(slug, row)}`))
    expect(routeRows.map(({ at }) => at).sort()).toEqual(routes.sort())
  })

  test('public routes are marked, and each row has a known outcome for each column', () => {
    const free = routeTables.flatMap(({ slug, rows: own }) =>
      own.flatMap(row => (row.kind === 'forward' && 'public' in row.access ? [`${row.method} ${pathOf(slug, row)}`] : [])),
    )
    expect(
      routeRows
        .filter(({ cells }) => cells.includes('public'))
        .map(({ at }) => at)
        .sort(),
    ).toEqual(free.sort())
    for (const row of rows) {
      expect(cellsOf(row), row.at).toHaveLength(columns.length)
      for (const cell of cellsOf(row)) expect(outcomes, row.at).toContain(cell)
    }
  })
})

const password = 'correct horse battery'
const roles = { viewer: 'viewer', member: 'member', owner: 'owner', outsider: 'owner' } as const
const keyName = (scopes: readonly Scope[]) => `key ${[...scopes].sort().join(' ')}`.slice(0, 80)

let graph: Supergraph
let door: Door
let stage: Stage
let world: World
let ids: Ids
let people: Record<keyof typeof roles, Viewer>
const headers = new Map<string, Record<string, string>>()
const services = appsOf(routeRows.map(({ scopes }) => scopes))

beforeAll(async () => {
  // One organization for all cells: its daily quotas are far from reached.
  graph = await supergraph({ sandbox: true, now: new Date().toISOString(), quotas: { invitationsADay: 1000, pendingInvitations: 1000 } })
  door = await openDoor(graph, { tokens: services.tokens, apps: services.apps })
  const scopeSets = new Map(routeRows.flatMap(({ scopes, less }) => [scopes, less]).map(scopes => [keyName(scopes), scopes]))
  const provisioned = await graph.platform.identity.provision({
    password,
    people: [...Object.keys(roles), 'super'].map(name => ({ email: `${name}@test.test`, name })),
    organizations: [
      { slug: 'acme', name: 'Acme', members: (['viewer', 'member', 'owner'] as const).map(name => ({ email: `${name}@test.test`, roles: [roles[name]] })) },
      { slug: 'other', name: 'Other', members: [{ email: 'outsider@test.test', roles: ['owner'] }] },
      // People who are added are members here already: strangers cannot be added.
      { slug: 'admin', name: 'Administration', members: [{ email: 'super@test.test', roles: ['platform_super_admin'] }] },
      { slug: 'commons', name: 'Commons', members: Object.keys(roles).map(name => ({ email: `${name}@test.test`, roles: ['viewer'] as const })) },
    ],
    keys: [
      ...[...scopeSets].map(([name, scopes]) => ({ organization: 'acme', name, scopes, createdBy: 'owner@test.test' })),
      { organization: 'other', name: 'theirs', scopes: ['publishing:posts.read'], createdBy: 'outsider@test.test' },
    ],
  })
  for (const [name, { secret }] of Object.entries(provisioned.keys)) headers.set(name, { 'x-api-key': secret! })
  const [acme, other] = [provisioned.organizations.acme!, provisioned.organizations.other!]
  const entries = Object.entries(roles).map(([name, role]) => [
    name,
    person(provisioned.users[`${name}@test.test`]!, name === 'outsider' ? other : acme, [role]),
  ])
  people = Object.fromEntries(entries) as typeof people
  for (const viewer of Object.values(people)) {
    const [at, until] = [graph.clock.now(), graph.clock.in(3_600_000)]
    const session = [viewer.sessionId, until, newId(), at, viewer.userId, viewer.organizationId]
    await graph.rows(
      'insert into identity.sessions (id, expires_at, token, created_at, updated_at, user_id, active_organization_id) values ($1, $2, $3, $4, $4, $5, $6)',
      session,
    )
  }
  stage = { graph, owner: people.owner, outsider: people.outsider, commons: provisioned.organizations.commons!, ids: { organization: acme } }
  world = { owner: people.owner, member: people.member, superAdmin: provisioned.users['super@test.test']!, admin: provisioned.organizations.admin! }
  ids = await makeAll(stage)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

/** A row's cells as they are, in the order of the columns. */
async function cellsAsTheyAre<Row extends FieldRow | RouteRow>(row: Row, look: (row: Row, column: Column, ids: Ids) => Promise<string>): Promise<string> {
  const seen: string[] = []
  for (const column of columns) seen.push(await look(row, column, { ...ids, ...(row.fresh && { fresh: await row.fresh({ ...stage, ids }) }) }))
  return seen.map((outcome, index) => `${columns[index]}: ${outcome}`).join(', ')
}

const asWritten = (row: FieldRow | RouteRow): string =>
  cellsOf(row)
    .map((outcome, index) => `${columns[index]}: ${outcome}`)
    .join(', ')

function viewerOf(column: Column, { scopes, less }: FieldRow | RouteRow): Viewer {
  if (column === 'anonymous') return anonymous
  if (column === 'key' || column === 'other key') return key(ids.organization!, column === 'key' ? scopes : less)
  return people[column]
}

/** Follows the path through the first entries of lists, and tells what is at its end or why it ends before. */
function outcomeOf({ partial: { data, errors } }: Answer, path: string): Outcome | string {
  let value: unknown = data
  const walked: string[] = []
  const segments = path.split('.')
  for (const segment of segments) {
    if (value === null || value === undefined) break
    walked.push(segment)
    value = (value as Record<string, unknown>)[segment]
    if (Array.isArray(value)) {
      if (value.length === 0) return 'empty'
      value = value[0]
    }
  }
  if (value !== null && value !== undefined) return 'yes'
  const places = errors.map(error => ({ code: error.extensions.code, place: (error.path ?? []).filter(part => typeof part === 'string').join('.') }))
  const reached = walked.join('.') || segments[0]!
  const error = places.find(({ place }) => place === reached || place.startsWith(`${reached}.`) || reached.startsWith(place))
  if (!error) return 'nothing'
  return { UNAUTHORIZED_FIELD_OR_TYPE: 'refused', FORBIDDEN: 'denied', NOT_FOUND: 'hidden' }[error.code] ?? error.code
}

/** What somebody sees of a field; of a subscription, whether it begins. */
async function seenAt(row: FieldRow, ask: string, as: Viewer): Promise<Outcome | string> {
  if (!isSubscription(row)) return outcomeOf(await graph.execute(ask, {}, { as }), row.path)
  const started = await graph.trySubscription(ask, {}, { as })
  if (!('end' in started)) return outcomeOf(started, row.path)
  await started.end()
  return 'yes'
}

describe('S-07 a field answers each caller according to the matrix', () => {
  test.each(fieldRows)('$at', async row => {
    const look = (_: FieldRow, column: Column, asked: Ids) => seenAt(row, row.ask(asked), viewerOf(column, row))
    expect(await cellsAsTheyAre(row, look)).toBe(asWritten(row))
  })
})

describe('S-07 a field answers those of whom no row says anything as its rules do, and shows no more than to a caller like them', () => {
  test.each(fieldRows)('$at', async row => {
    const mistakes: string[] = []
    for (const name of otherNames) {
      const ask = row.ask({ ...ids, ...(row.fresh && { fresh: await row.fresh({ ...stage, ids }) }) })
      const like = cellsOf(row)[columns.indexOf(others[name].like)]!
      const seen = await seenAt(row, ask, others[name].viewer(world, row))
      const mistake = mistakeIn(seen, name, row, { world, like, ask, types })
      if (mistake) mistakes.push(`${name}: ${mistake}`)
    }
    expect(mistakes).toEqual([])
  })
})

describe('S-07 a route answers each caller according to the matrix', () => {
  // Only now, because the fields above end sessions.
  beforeAll(async () => {
    for (const name of Object.keys(people)) headers.set(name, await door.signIn(`${name}@test.test`, password))
  })

  // CONFLICT of a reading route: the gateway has no credential of the processor for that organization.
  const meaning: Record<number, Outcome> = { 409: 'nothing', 200: 'yes', 201: 'yes', 202: 'yes', 204: 'yes', 401: 'refused', 403: 'refused', 404: 'hidden' }

  test.each(routeRows)('$at', async row => {
    const method = row.at.split(' ')[0]!.replace('*', 'GET')
    const credentialsOf = (column: Column): Record<string, string> => {
      if (column === 'anonymous') return {}
      return headers.get(column === 'key' ? keyName(row.scopes) : column === 'other key' ? keyName(row.less) : column)!
    }
    const isPublic = row.cells.includes('public')
    const look = async ({ path, body, headers: more, signed = false }: RouteRow, column: Column, asked: Ids) => {
      const call = (credentials: Record<string, string>) =>
        door.ask(method, path(asked), { headers: { ...more, ...credentials }, ...(body && { body: body(asked) }) })
      const { status } = await call(credentialsOf(column))
      // These routes answer all callers alike; elsewhere invalid credentials would be 401.
      if (isPublic) {
        const others = [(await call({})).status, (await call({ authorization: 'Bearer nonsense' })).status]
        return (status === 401) === signed && others.every(other => other === status) ? 'public' : `${status}, ${others.join(', ')}`
      }
      if (meaning[status] === 'refused' && status !== (column === 'anonymous' ? 401 : 403)) return `${status}`
      return meaning[status] ?? `${status}`
    }
    expect(await cellsAsTheyAre(row, look)).toBe(asWritten(row))
  })
})

describe('S-07 a route answers callers without a column according to its rules, and reveals no more than to a similar caller', () => {
  const { tables } = deriveTables(routeTables, schema)
  const routes = new Map<string, ServedRow>(tables.flatMap(({ slug, rows: own }) => own.map(row => [`${row.method} ${pathOf(slug, row)}`, row] as const)))
  let credentialsOf: Awaited<ReturnType<typeof credentialsOfOthers>>
  beforeAll(async () => {
    credentialsOf = await credentialsOfOthers(graph, door, { world, password, serviceHeaders: services.headersOf })
  })

  test.each(routeRows)('$at', async row => {
    const method = row.at.split(' ')[0]!.replace('*', 'GET')
    const route = routes.get(row.at)!
    // Some rows end their person's sessions, and the number of sessions is limited.
    await graph.rows('delete from identity.sessions where user_id = any($1)', [[world.owner.userId, world.superAdmin]])
    const mistakes: string[] = []
    for (const name of otherNames) {
      const asked = { ...ids, ...(row.fresh && { fresh: await row.fresh({ ...stage, ids }) }) }
      const call = (credentials: Record<string, string>) =>
        door.ask(method, row.path(asked), { headers: { ...row.headers, ...credentials }, ...(row.body && { body: row.body(asked) }) })
      const seen = await call(await credentialsOf(name, row.scopes))
      const like = cellsOf(row)[columns.indexOf(others[name].like)]!
      const mistake = like === 'public' ? null : mistakeAt(seen, name, row, { world, like, route, types })
      if (mistake) mistakes.push(`${name}: ${mistake}`)
      // For public fields the caller makes no difference.
      if (like === 'public' && seen.status !== (await call({})).status) mistakes.push(`${name}: ${seen.status}, unlike anybody`)
    }
    expect(mistakes).toEqual([])
  })
})
