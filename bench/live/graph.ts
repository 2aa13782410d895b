import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeShop } from '../shop/supergraph.ts'

const spec = `extend schema @link(url: "https://supergraph.example/shared/v1.0", import: ["@shared"]) @composeDirective(name: "@shared")
  directive @shared(by: SharedBy!, sameScopes: Boolean! = false, latestBy: String) on FIELD_DEFINITION | OBJECT
  enum SharedBy { ORGANIZATION EVERYONE }`

/** The shop's supergraph, in which all that the subscription selects is the same for everybody of an organization. */
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

/** Writes the shop's supergraph, whose subgraphs are below one address. @returns the file */
export const writeShop = (address: string): string => written(composeShop(address))

function written(supergraph: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'bench-live-')), 'supergraph.graphql')
  writeFileSync(file, supergraph)
  return file
}

/** An event as the subgraph that owns it tells it: its entities by their keys. */
export const reviewOf = (id: string): string =>
  JSON.stringify({
    data: { reviewAdded: { id, body: 'Fine.', author: { __typename: 'User', id: '2' }, product: { __typename: 'Product', upc: '3' } } },
  })
