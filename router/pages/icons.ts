import { type Slug, slugs } from '../../subgraphs/scopes.ts'
import type { Asset } from './assets.ts'

/** The letter and the colour of each service's icon. */
const looks: Readonly<Record<Slug, readonly [letter: string, colour: string]>> = {
  identity: ['I', '#334155'],
  launcher: ['L', '#4338ca'],
  publishing: ['P', '#0f766e'],
  agents: ['A', '#9333ea'],
  payments: ['€', '#b45309'],
  providers: ['M', '#be123c'],
}

const drawn = ([letter, colour]: readonly [string, string]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img"><rect width="64" height="64" rx="14" fill="${colour}"/><text x="32" y="44" fill="#fff" font-family="system-ui,sans-serif" font-size="36" font-weight="600" text-anchor="middle">${letter}</text></svg>`

/**
 * The icons that the registry names by path. Every host serves them, so that a page finds the icon of another service
 * on its own origin.
 */
export const icons: readonly Asset[] = slugs.map(slug => ({ path: `/icons/${slug}.svg`, type: 'image/svg+xml', load: async () => drawn(looks[slug]) }))
