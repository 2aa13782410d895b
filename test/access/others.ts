import { type DocumentNode, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from 'graphql'
import type { ServedRow } from '../../router/rest/derive/tables.ts'
import { personalScopes, type Scope, scopesOf } from '../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { person, personally } from '../kit/viewers.ts'
import type { Type } from '../schema/graph.ts'
import type { Column, FieldRow, Outcome, RouteRow } from './row.ts'

/**
 * Callers of whom no row says anything by hand: what the rules refuse them follows from the schema, read here once more and by another
 * way than the router's; and past the rules they see nothing that a caller does not of whom a row does, but where the table below says so.
 */
export const others = {
  'super admin': {
    like: 'outsider',
    viewer: ({ superAdmin, admin }: World) => person(superAdmin, admin, ['platform_super_admin']),
    policies: ['person', 'platform_admin', 'platform_super_admin'],
  },
  'in personal context': {
    like: 'outsider',
    viewer: ({ owner }: World) => ({ ...personally(owner), scopes: personalScopes }),
    policies: ['person'],
  },
  app: {
    like: 'key',
    viewer: ({ owner }: World, { scopes }: Scoped) => ({ ...owner, roles: [], scopes, clientId: 'app' }),
    policies: [],
  },
  service: {
    like: 'key',
    viewer: ({ owner }: World, { scopes }: Scoped) => ({
      ...anonymous,
      kind: 'service' as const,
      appId: 'app_launcher',
      organizationId: owner.organizationId,
      context: 'organization' as const,
      // A service's own statement gives no admin rights at the gateway.
      scopes: scopes.filter(scope => scope !== 'providers:org.admin'),
    }),
    policies: ['service'],
  },
  'service for a member': {
    like: 'key',
    viewer: ({ owner, member }: World, { scopes }: Scoped) => ({
      ...anonymous,
      kind: 'service' as const,
      appId: 'app_launcher',
      organizationId: owner.organizationId,
      context: 'organization' as const,
      userId: member.userId,
      onBehalfOf: member.userId,
      scopes: scopes.filter(scope => scopesOf(['member']).includes(scope)),
    }),
    policies: ['service'],
  },
} as const satisfies Record<string, { like: Column; viewer(world: World, row: Scoped): Viewer; policies: readonly string[] }>

type Scoped = Pick<FieldRow | RouteRow, 'scopes'>

export type Other = keyof typeof others
export const otherNames = Object.keys(others) as Other[]

export interface World {
  readonly owner: Viewer
  readonly member: Viewer
  readonly superAdmin: string
  readonly admin: string
}

/** Where they see more than the caller that they are like, and why. */
const more: Readonly<Record<string, { readonly who: readonly Other[]; readonly because: string }>> = {
  'Query.organization': {
    who: ['super admin', 'in personal context'],
    because: 'who looks after the platform sees every organization, and a person those that they may switch to',
  },
  ...Object.fromEntries(
    ['Mutation.provisionOrganization', 'POST /providers/api/organizations'].map(at => [
      at,
      { who: ['super admin'] as const, because: 'who looks after the platform provisions any organization' },
    ]),
  ),
  ...Object.fromEntries(
    ['Mutation.removePushSubscription', 'DELETE /launcher/api/push/subscriptions/:id'].map(at => [
      at,
      { who: ['in personal context'] as const, because: 'browsers are the person’s in every context' },
    ]),
  ),
  'Mutation.switchContext': { who: ['in personal context'], because: 'the person is a member of it' },
  'Mutation.switchOrganization': { who: ['in personal context'], because: 'the person is a member of it' },
  ...Object.fromEntries(
    ['Mutation.createHousehold', 'Household.members', 'HouseholdMember.user', ...['GET', 'POST'].map(method => `${method} /launcher/api/households`)]
      .concat('GET /launcher/api/households/invitations')
      .map(at => [at, { who: ['in personal context'] as const, because: 'households belong to people, and are refused in an organization' }]),
  ),
  ...Object.fromEntries(
    ['Query.processorRecords', 'ProcessorRecordConnection.pageInfo', 'Mutation.createProcessorCustomer'].map(at => [
      at,
      { who: ['service'] as const, because: 'the launcher sells bundles at the processor' },
    ]),
  ),
  'Viewer.user': { who: ['app', 'service for a member'], because: 'a person stands behind them' },
  'ApiKey.createdBy': { who: ['app'], because: 'an app sees who made a key as its person does' },
}

/** The rules that a row's path meets, from its root field to its end. */
function rulesOf(row: FieldRow, document: DocumentNode, types: ReadonlyMap<string, Type>): readonly string[] {
  const { operation } = document.definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION)!
  let type = types.get({ query: 'Query', mutation: 'Mutation', subscription: 'Subscription' }[operation])!
  const met: string[] = []
  for (const name of row.path.split('.')) {
    const field = type.fields.find(each => each.name === name)
    if (!field) throw new Error(`${row.at} leads over ${type.name}.${name}, which the graph does not have`)
    met.push(...field.rules)
    const next = types.get(field.type)
    if (!next) break
    met.push(...next.rules)
    type = next
  }
  return met
}

/** Whether a viewer gets past a rule as SDL writes it: one of the outer list, all of the inner. */
function passes(rule: string, viewer: Viewer, policies: readonly string[]): boolean {
  if (rule === '@authenticated') return viewer.kind !== 'anonymous'
  const [, directive, list] = /^@(requiresScopes|policy)\(\w+: (.+)\)$/.exec(rule) ?? []
  if (!list) throw new Error(`${rule} is no rule that is known here`)
  const has = directive === 'policy' ? policies : viewer.scopes
  return (JSON.parse(list) as string[][]).some(way => way.every(each => has.includes(each as Scope)))
}

/**
 * What is wrong with an answer to a caller of no row; null when nothing is. It is refused where the rules refuse, and nowhere else; and it shows
 * nothing where the caller that it is like sees nothing.
 * @param like what the row says of that caller
 */
export function mistakeIn(
  seen: string,
  name: Other,
  row: FieldRow,
  { world, like, ask, types }: { world: World; like: Outcome; ask: string; types: ReadonlyMap<string, Type> },
): string | null {
  const { viewer, policies } = others[name]
  const asking = viewer(world, row)
  const isLetIn = rulesOf(row, parse(ask), types).every(rule => passes(rule, asking, policies))
  if (isLetIn === (seen === 'refused')) return isLetIn ? 'it is refused, and no rule says so' : `a rule refuses it, and it is answered: ${seen}`
  // If that caller is refused, the rules distinguish the two.
  const isBlind = like !== 'yes' && like !== 'refused'
  return isBlind && seen === 'yes' && !more[row.at]?.who.includes(name) ? `it sees what the ${others[name].like} does not, to whom it is ${like}` : null
}

/** Whether the rules let a viewer in at a route: by what the row says itself, and by the rules of what its operation selects. */
function isLetInAt(row: ServedRow, viewer: Viewer, policies: readonly string[], types: ReadonlyMap<string, Type>): boolean {
  if (row.kind === 'forward') {
    if ('scope' in row.access) return viewer.scopes.includes(row.access.scope)
    return 'public' in row.access || policies.includes(row.access.policy)
  }
  if (row.policy && !policies.includes(row.policy)) return false
  const { definitions } = row.operation
  const allowed = (rules: readonly string[]) => rules.every(rule => passes(rule, viewer, policies))
  /** Whether a selection comes back null as a whole: a field of it does, and may not. */
  const isLost = (type: Type, { selections }: SelectionSetNode): boolean =>
    selections.some(each => {
      if (each.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = definitions.find(other => other.kind === Kind.FRAGMENT_DEFINITION && other.name.value === each.name.value)
        return fragment?.kind === Kind.FRAGMENT_DEFINITION && isLost(types.get(fragment.typeCondition.name.value)!, fragment.selectionSet)
      }
      if (each.kind === Kind.INLINE_FRAGMENT || each.name.value === '__typename') return false
      const field = type.fields.find(({ name }) => name === each.name.value)!
      const next = types.get(field.type)
      const isNull = !allowed([...field.rules, ...(next?.rules ?? [])]) || (next && each.selectionSet && isLost(next, each.selectionSet))
      return isNull && (!field.nullable || type.name === 'Query' || type.name === 'Mutation')
    })
  const { operation, selectionSet } = definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION)!
  return !isLost(types.get(operation === 'query' ? 'Query' : 'Mutation')!, selectionSet)
}

/** What a route answered. */
interface Seen {
  readonly status: number
  /** What the refusal names: rules of the router's name what they take, rules of a subgraph do not. */
  readonly json: { readonly requiredScopes?: unknown; readonly requiredPolicies?: unknown } | null
}

/** What is wrong with what a route answers to a caller of no row, as `mistakeIn` tells it of fields; null when nothing is. */
export function mistakeAt(
  { status, json }: Seen,
  name: Other,
  row: RouteRow,
  { world, like, route, types }: { world: World; like: Outcome; route: ServedRow; types: ReadonlyMap<string, Type> },
): string | null {
  const { viewer, policies } = others[name]
  const isLetIn = isLetInAt(route, viewer(world, row), policies, types)
  const isRefused = status === 401 || (status === 403 && Boolean(json?.requiredScopes ?? json?.requiredPolicies))
  if (isLetIn === isRefused) return isLetIn ? `it is refused, and no rule says so: ${status}` : `a rule refuses it, and it is answered: ${status}`
  const isBlind = like !== 'yes' && like !== 'refused'
  return isBlind && status < 300 && !more[row.at]?.who.includes(name) ? `it sees what the ${others[name].like} does not, to whom it is ${like}` : null
}
