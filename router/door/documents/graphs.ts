import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { Engine } from '../../engine/engine.ts'
import { type Documents, type DocumentsOptions, documentsOf } from './documents.ts'
import type { Manifest } from './manifest.ts'
import { createRegistered } from './registered.ts'
import { createSources, type SourceOptions, type Sources } from './sources.ts'

/** The whole graph, or a variant of it, as doors serve it: with documents that are valid there. */
export interface ServedGraph {
  /** Name of the variant; undefined for the whole graph. */
  readonly variant: string | undefined
  /** The engine of the whole graph, whose schema is the variant's. */
  readonly engine: Engine
  readonly documents: Documents
  readonly sources: Sources
}

/** What a router serves: the whole graph and its variants. */
export interface Graphs {
  readonly whole: ServedGraph
  /** Names of the variants. */
  readonly names: readonly string[]
  /** Returns a variant, which is opened at the first call. @throws Error for an unknown name */
  variant(name: string): ServedGraph
  /** Replaces the list of trusted documents. @returns those that can run on the whole graph */
  trust(manifest: Manifest): readonly DocumentNode[]
  /** Validates the trusted documents against a new graph. @returns those that can run on the whole graph */
  readAgain(): readonly DocumentNode[]
}

/**
 * Opens the graph of an engine and its variants. A document is parsed and validated for each of them by itself: what is
 * valid on the whole graph may name what a variant hides. Registered texts and trusted documents are the same for all.
 */
export function createGraphs(engine: Engine, documentsOptions: DocumentsOptions, { registered = createRegistered(), ...options }: SourceOptions): Graphs {
  const { variants } = engine
  const open = (variant: string | undefined, served: Engine): ServedGraph => {
    const documents = documentsOf(served, documentsOptions)
    // What a variant hides makes trusted documents invalid there: that is no news.
    const isQuiet = variant !== undefined
    return { variant, engine: served, documents, sources: createSources(documents, { ...options, registered, isQuiet }) }
  }
  const whole = open(undefined, engine)
  const opened = new Map<string, ServedGraph>()
  let manifest: Manifest | null = null
  return {
    whole,
    names: variants?.names ?? [],
    variant(name) {
      const known = opened.get(name)
      if (known) return known
      const schema = variants?.schemaOf(name)
      if (!schema) throw new Error(`the graph has no variant ${name}`)
      const made = open(name, withSchema(engine, schema))
      if (manifest) made.sources.trust(manifest)
      opened.set(name, made)
      return made
    },
    trust(listed) {
      manifest = listed
      for (const { sources } of opened.values()) sources.trust(listed)
      return whole.sources.trust(listed)
    },
    readAgain() {
      for (const { sources } of opened.values()) sources.readAgain()
      return whole.sources.readAgain()
    },
  }
}

const withSchema = (engine: Engine, schema: GraphQLSchema): Engine => ({ ...engine, schema })

const variantPath = /^\/graphql\/([a-z][a-z0-9-]*)\/?(?:\?|$)/

/**
 * Reads from the address of a request which graph it asks: null for the whole one, else the name of a variant, which may
 * be unknown. Undefined for any other address.
 */
export function variantIn(url: string): string | null | undefined {
  return /^\/graphql\/?(?:\?|$)/.test(url) ? null : variantPath.exec(url)?.[1]
}
