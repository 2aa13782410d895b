import { everyScope, type Scope } from '../../subgraphs/scopes.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Supergraph } from '../kit/supergraph.ts'

/** Who stands in which column: a key with exactly the row's scopes, one without them, and people by their role. */
export const columns = ['anonymous', 'key', 'other key', 'viewer', 'member', 'owner', 'outsider'] as const
export type Column = (typeof columns)[number]

/**
 * What a caller gets: `yes`; `refused` by the router's access filter (401 or 403 on a route); `denied` by a rule of the
 * subgraph; `hidden`, as if it did not exist; `empty`, a list without entries; `nothing`, null without an error; `public`, a
 * route that never asks who calls; `CONFLICT` for what belongs to the other context.
 */
export const outcomes = ['yes', 'refused', 'denied', 'hidden', 'empty', 'nothing', 'public', 'CONFLICT'] as const
export type Outcome = (typeof outcomes)[number]

/**
 * Ids that rows ask about: `organization`, what the nouns' `made` names, and `fresh`, what was made for this one cell. The organization
 * is `acme`; the outsider owns another.
 */
export type Ids = Readonly<Record<string, string>>

/** Where things for rows are made. */
export interface Stage {
  readonly graph: Supergraph
  /** Who owns `acme`, and who owns another organization. */
  readonly owner: Viewer
  readonly outsider: Viewer
  /** An organization of which all of them are members: somebody in it is no stranger to them. */
  readonly commons: string
  /** What there is so far. */
  readonly ids: Ids
}

/** Makes what one cell of a row changes, so that no cell sees what another did. @returns its id, or by what else it is asked for */
export type Fresh = (stage: Stage) => Promise<string>

export interface FieldRow {
  /** `Type.field`. */
  readonly at: string
  /** The scopes of the column `key`. For what only people may have, all of them: no scope opens it. */
  readonly scopes: readonly Scope[]
  /** The scopes of the column `other key`: enough to come near, not enough to get in. */
  readonly less: readonly Scope[]
  readonly cells: string
  /** The operation's selection; the field is looked at where `path` leads. */
  readonly ask: (ids: Ids) => string
  readonly path: string
  readonly fresh?: Fresh
}

export interface RouteRow {
  /** Method and path as the tables have them, with the service's prefix. */
  readonly at: string
  readonly scopes: readonly Scope[]
  readonly less: readonly Scope[]
  readonly cells: string
  readonly path: (ids: Ids) => string
  readonly body?: (ids: Ids) => unknown
  /** Beside those that say who calls: what a body is, where it is no JSON. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fresh?: Fresh
  /** Of a public one: that it answers 401 by itself, whoever asks, for a signature is missing. */
  readonly signed?: boolean
}

/** What a noun's `access.ts` says: each field of it that needs a row (`derived.ts` tells which do), and each of its routes. */
export interface AccessRows {
  /** Makes what the rows ask about, once, after what the nouns listed before have made. @returns ids by the names that rows use */
  readonly made?: (stage: Stage) => Promise<Ids>
  readonly fields?: readonly FieldRow[]
  readonly routes?: readonly RouteRow[]
}

export const readPosts: readonly Scope[] = ['publishing:posts.read']
/** Enough to be answered with the post that was written; not to read any other. */
export const writePosts: readonly Scope[] = ['publishing:posts.write']
export const accounts: readonly Scope[] = ['publishing:accounts.read']
export const figures: readonly Scope[] = ['publishing:dashboard.read']
export const readOrders: readonly Scope[] = ['payments:payments.read']
export const payingFigures: readonly Scope[] = ['payments:dashboard.read']
export const workingFigures: readonly Scope[] = ['agents:workspace.read']
export const widgets: readonly Scope[] = ['launcher:widgets.read']
/** A key always has a scope: this one opens nothing here. */
export const unrelated: readonly Scope[] = ['payments:reports.read']
export const all = everyScope

// What most rows say.                    anonymous key     other    viewer   member   owner    outsider
export const everybody /*            */ = 'yes     yes     yes      yes      yes      yes      yes'
export const knownCallers /*         */ = 'refused yes     yes      yes      yes      yes      yes'
export const byScope /*              */ = 'refused yes     refused  yes      yes      yes      hidden'
export const byScopeEachTheirOwn /*  */ = 'refused yes     refused  yes      yes      yes      yes'
export const byScopeNoneElsewhere /* */ = 'refused yes     refused  yes      yes      yes      empty'
export const writers /*              */ = 'refused yes     refused  refused  yes      yes      hidden'
export const accountants /*          */ = 'refused yes     refused  refused  refused  yes      hidden'
export const people /*               */ = 'refused refused refused  yes      yes      yes      yes'
export const peopleOfIt /*           */ = 'refused refused refused  yes      yes      yes      hidden'
export const services /*             */ = 'refused refused refused  refused  refused  refused  refused'
export const managers /*             */ = 'refused refused refused  denied   denied   yes      yes'
export const managersOfIt /*         */ = 'refused refused refused  denied   denied   yes      hidden'
export const publicRoute /*          */ = 'public  public  public   public   public   public   public'

export const change = (name: string, input: (ids: Ids) => string, selection: string) => (ids: Ids) =>
  `mutation { ${name}(input: { ${input(ids)} }) { ${selection} } }`
export const constant = (document: string) => () => document

export const row = (
  at: string,
  scopes: readonly Scope[],
  less: readonly Scope[],
  cells: string,
  ask: (ids: Ids) => string,
  path: string,
  fresh?: Fresh,
): FieldRow => ({
  at,
  scopes,
  less,
  cells,
  ask,
  path,
  ...(fresh && { fresh }),
})
