import { expect, test } from 'vitest'
import { listedSlugs } from '../../router/start/registry.ts'
import { factKinds, kindOf } from '../../subgraphs/store/fact-kinds.ts'
import { supergraph } from '../kit/supergraph.ts'

test('whoever is to receive a kind of facts has a handler for it, and nobody else has', async () => {
  await using graph = await supergraph()
  const isHandled = async (slug: string, kind: string) => {
    const subgraph = graph.platform.subgraphs.find(({ registration }) => registration.slug === slug)
    const [from] = kindOf(kind)!.from
    const receipt = await subgraph?.receive?.({ id: '', from: from!, kind, subject: '', at: graph.clock.now(), body: 'none of a kind' })
    return receipt !== undefined && receipt !== 'received' && /^its body is not that of/.test(receipt.refused)
  }
  for (const kind of Object.keys(factKinds)) {
    const handled = []
    for (const slug of listedSlugs) if (await isHandled(slug, kind)) handled.push(slug)
    expect(handled.sort(), kind).toEqual(listedSlugs.filter(slug => kindOf(kind)!.to.includes(slug)).sort())
  }
})
