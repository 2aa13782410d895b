import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeShop } from '../shop/supergraph.ts'

const spec = `extend schema @link(url: "https://supergraph.example/shared/v1.0", import: ["@shared"]) @composeDirective(name: "@shared")
  directive @shared(by: SharedBy!, sameScopes: Boolean! = false, latestBy: String) on FIELD_DEFINITION | OBJECT
  enum SharedBy { ORGANIZATION EVERYONE }`

/** Composes the shop's supergraph with a subscription that can be shared within an organization. */
const composeShared = (): string =>
  composeShop(
    'http://localhost',
    sdl =>
      sdl
        .replace('"@shareable"]', '"@shareable", "@composeDirective"]')
        .replaceAll(/\b(?:id|upc|name|body|author|product|inStock|reviewAdded): \w+!?/g, '$& @shared(by: ORGANIZATION)') + spec,
  )

/** Writes that supergraph. @returns the file */
export const writeShared = (): string => written(composeShared())

/** Writes the shop's supergraph for subgraphs below one address. @returns the file */
export const writeShop = (address: string): string => written(composeShop(address))

function written(supergraph: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'bench-live-')), 'supergraph.graphql')
  writeFileSync(file, supergraph)
  return file
}

/** Returns an event as its subgraph publishes it: entities by their keys. */
export const reviewOf = (id: string): string =>
  JSON.stringify({
    data: { reviewAdded: { id, body: 'Fine.', author: { __typename: 'User', id: '2' }, product: { __typename: 'Product', upc: '3' } } },
  })
