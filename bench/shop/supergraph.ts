import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { type GraphQLSchema, parse } from 'graphql'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { federationLink, parts } from './graph.ts'

type Resolvers = NonNullable<Extract<Extract<Parameters<typeof buildSubgraphSchema>[0], readonly unknown[]>[number], { typeDefs: unknown }>['resolvers']>

/**
 * Composes the shop's supergraph over subgraphs below one address. @throws composition errors
 * @param written changes their SDL @default unchanged
 */
export function composeShop(address: string, written = (sdl: string): string => sdl): string {
  const services = Object.entries(parts).map(([name, { sdl }]) => ({ name, url: `${address}/${name}`, typeDefs: parse(written(federationLink + sdl)) }))
  const composed = composeServices(services)
  if (composed.errors) throw new Error(composed.errors.map(String).join('\n'))
  return composed.supergraphSdl
}

/** Returns executable schemas of the shop's subgraphs by name. */
export const shopSchemas = (): ReadonlyMap<string, GraphQLSchema> =>
  new Map(
    Object.entries(parts).map(([name, { sdl, resolvers }]) => [
      name,
      buildSubgraphSchema([{ typeDefs: parse(federationLink + sdl), resolvers: resolvers as unknown as Resolvers }]),
    ]),
  )

/** Returns the shop's subgraphs for a transport in one process. */
export function shopSubgraphs(): ReadonlyMap<string, Subgraph> {
  const none = async () => {}
  const registration = {} as Subgraph['registration']
  return new Map([...shopSchemas()].map(([name, schema]) => [name, { registration, schema, open: () => ({}), start: none, stop: none }]))
}
