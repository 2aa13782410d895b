import { UniqueConstraintError } from 'sequelize'
import { expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import { supergraph } from '../../kit/supergraph.ts'

test('rows that are written often come back as they were given, and throw what a model throws', async () => {
  await using graph = await supergraph()
  const { job } = graph
  const { post } = await graph.seed.owner().brand().post()
  const write = (changes: object) => inTransaction(job, ({ transaction }) => job.posts.update(post, changes, transaction))
  const stored = async () => (await graph.job.posts.require(post.id)) as unknown as Record<string, unknown>

  const awkward = {
    tags: ['a "b"', '{c,d}', '\\e', 'NULL', ''],
    media: [{ assetId: newId(), altText: 'It\'s "quoted" \\ and {braced}' }],
    target: { kind: 'PAGE', externalId: '1' },
    prepared: { of: 'x', handle: { parts: [1, null, 'é'] }, since: 'now' },
    waitsUntil: null,
    held: true,
    claimUntil: undefined,
    updatedAt: new Date('2027-03-01T09:00:00.123Z'),
    version: 7,
  }
  await write(awkward)
  const { claimUntil: _, ...given } = awkward
  expect(await stored()).toMatchObject({ ...given, claimUntil: null, copy: post.copy })
  await write({ target: null, prepared: null, tags: [], media: [] })
  expect(await stored()).toMatchObject({ target: null, prepared: null, tags: [], media: [], version: 7 })
  await write({ claimUntil: undefined })

  const twin = { ...post, id: newId(), copy: 'Another' }
  const insert = (row: typeof twin) => inTransaction(job, ({ transaction }) => job.posts.insert(row, transaction))
  await expect(insert(twin), 'the place in the thread is taken').rejects.toThrow(UniqueConstraintError)
  const { threadId: __, ...apart } = twin
  await insert({ ...apart, threadId: newId(), tags: awkward.tags })
  expect(await graph.job.posts.require(twin.id)).toMatchObject({ copy: 'Another', tags: awkward.tags, attempts: 0, deliveryPhase: 'NONE' })
  await expect(write({ copy: 'NUL \0' })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
})
