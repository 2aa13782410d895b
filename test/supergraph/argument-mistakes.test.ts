import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

let graph: Supergraph
let owner: Viewer
const brandId = '00000000-0000-4000-8000-000000000000'
beforeAll(async () => {
  graph = await supergraph()
  owner = (await graph.seed.owner()).owner
})
afterAll(() => graph?.[Symbol.asyncDispose]())

const refusal = async (document: string, variables: Record<string, unknown> = {}) => (await graph.execute(document, variables, { as: owner })).error

describe('a value that a scalar rejects', () => {
  test.each([
    ['in an input', `input: { brandId: "${brandId}", platform: X, copy: "a", scheduledAt: "tomorrow" }`, 'input.scheduledAt', 'DateTime cannot represent'],
    ['that is an address', `input: { brandId: "${brandId}", platform: X, copy: "a", link: "no address" }`, 'input.link', 'Invalid URL'],
  ])('is told with its field and the reason when it is written %s', async (_what, written, place, reason) => {
    // The first runs are interpreted by graphql-js, later ones compiled.
    for (let run = 0; run < 4; run++) {
      const { message, extensions } = (await refusal(`mutation { createPost(${written}) { id } }`))!
      expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: place.replace('input.', '') })
      expect(message).toContain(`at "${place}": `)
      expect(message).toContain(reason)
    }
  })

  test('is reported under the client’s own variable', async () => {
    const input = { brandId, platform: 'X', copy: 'a', scheduledAt: 'tomorrow' }
    const { message } = (await refusal('mutation($i: CreatePostInput!) { createPost(input: $i) { id } }', { i: input }))!
    expect(message).toContain('Variable "$i" got invalid value "tomorrow" at "i.scheduledAt"; DateTime cannot represent')
    expect(message).not.toContain('v_')
  })
})
