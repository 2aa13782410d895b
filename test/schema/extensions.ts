/** An entity to which a subgraph adds fields that does not own it. */
export interface Extension {
  readonly entity: string
  readonly owner: string
  readonly by: string
  readonly fields: readonly string[]
  readonly because: string
}

/** Who extends whose entity: written by hand, so that a new edge between subgraphs is a decision and not an accident. */
export const extensions: readonly Extension[] = [
  {
    entity: 'Organization',
    owner: 'identity',
    by: 'publishing',
    fields: ['brands'],
    because: 'an organization shows the brands that it publishes for',
  },
  {
    entity: 'Organization',
    owner: 'identity',
    by: 'payments',
    fields: ['orders'],
    because: 'an organization shows what was ordered of it',
  },
  {
    entity: 'Organization',
    owner: 'identity',
    by: 'providers',
    fields: ['credentials'],
    because: 'an organization shows what it calls providers with',
  },
]
