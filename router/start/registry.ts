import { StartError } from '../../start-error.ts'
import type { Foundation, Registration, Subgraph } from '../../subgraphs/subgraph.ts'
import { listed } from './listed.generated.ts'

/** A subgraph that `supergraph.yaml` lists. */
export type ListedSlug = keyof typeof listed

/** Every listed subgraph, in the order of `supergraph.yaml`. */
export const listedSlugs = Object.keys(listed) as readonly ListedSlug[]

type Define<S extends ListedSlug> = Awaited<ReturnType<(typeof listed)[S]['definition']>>['define']
type SettingsOf<S extends ListedSlug> = Define<S> extends (foundation: Foundation, settings: infer Taken) => Subgraph ? Taken : never

/** Every listed subgraph, as returned by its `define`. */
export type Defined = { readonly [S in ListedSlug]: ReturnType<Define<S>> }

/** Settings of the subgraphs: an entry for each whose `define` takes settings. */
export type Settings = { readonly [S in ListedSlug as unknown extends SettingsOf<S> ? never : S]: SettingsOf<S> }

/** Defines one subgraph; it receives its own settings only. */
export type Definition<S extends ListedSlug> = (foundation: Foundation, settings: Settings) => Defined[S]

type Load<S extends ListedSlug> = () => Promise<{ readonly define: (foundation: Foundation, settings: unknown) => Defined[S] }>

/** Loads the code of one subgraph. @throws StartError when its folder does not export `define` */
export async function loadDefinition<S extends ListedSlug>(slug: S): Promise<Definition<S>> {
  const { define } = await exported(slug, 'definition', 'define', listed[slug].definition as Load<S>)
  return (foundation, settings) => define(foundation, (settings as Partial<Record<ListedSlug, unknown>>)[slug])
}

/** Loads the code of every subgraph. @throws StartError as `loadDefinition` does */
export async function loadDefinitions(): Promise<{ readonly [S in ListedSlug]: Definition<S> }> {
  const entries = await Promise.all(listedSlugs.map(async slug => [slug, await loadDefinition(slug)] as const))
  return Object.fromEntries(entries) as { [S in ListedSlug]: Definition<S> }
}

/**
 * Returns the registration of every service, without loading its code. @throws StartError when a folder does not export
 * `registration`
 */
export async function readRegistrations(): Promise<readonly Registration[]> {
  const modules = await Promise.all(listedSlugs.map(slug => exported(slug, 'registration', 'registration', listed[slug].registration)))
  return modules.map(({ registration }) => registration)
}

/** Addresses of each subgraph in distributed mode, from `supergraph.yaml`. */
export const routingUrls: ReadonlyMap<ListedSlug, string> = new Map(listedSlugs.map(slug => [slug, listed[slug].routingUrl]))

/**
 * Loads a module of a subgraph's folder.
 * @throws StartError when the module is missing, or lacks the export
 */
export async function exported<Module extends object>(slug: string, file: string, name: string & keyof Module, load: () => Promise<Module>): Promise<Module> {
  const path = `subgraphs/${slug}/${file}.ts`
  const wrong = (what: string, cause?: unknown) => new StartError(`${path} ${what}, but supergraph.yaml lists ${slug}: it must export ${name}`, cause)
  const module = await load().catch(error => {
    const { code, url } = error as { code?: string; url?: string }
    throw code === 'ERR_MODULE_NOT_FOUND' && url?.endsWith(`/${path}`) ? wrong('is not there', error) : error
  })
  if (module[name] === undefined) throw wrong(`exports no ${name}`)
  return module
}
