import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { everyNetwork } from '../../../../subgraphs/publishing/network/networks.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const document = `mutation($input: ImportPostsInput!) { importPosts(input: $input) { id dryRun created invalid rows { row status postId problems { severity code field } } } }`
const imported = async (as: Viewer, input: object) => (await graph.execute(document, { input }, { as })).data().importPosts
const postsOf = (brandId: string) =>
  graph.rows<{ copy: string; status: string; origin: string; position: number; tags: string[]; scheduled_at: Date | null }>(
    'select copy, status, origin, position, tags, scheduled_at from publishing.posts where brand_id = $1 order by copy',
    [brandId],
  )

const csv = [
  'platform,copy,scheduledAt,tags,threadKey',
  'x,"First, with a comma",2100-03-01T09:00:00,one;b,t',
  'myspace,Nowhere,,one,',
  `x,${'x'.repeat(281)},2100-03-01T09:00:00,one,t`,
  'linkedin,A draft,,one,',
  'x,Second,,,t',
  'x,Too late,2001-03-01T09:00:00Z,,',
].join('\r\n')

describe('a file of posts', () => {
  test('reports row by row, and can be checked without writing anything', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const report = await imported(owner, { brandId: brand.id, csv, dryRun: true })
    expect(report).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), dryRun: true, created: 0, invalid: 3 })
    expect(report.rows.map(({ row, status }: { row: number; status: string }) => `${row} ${status}`)).toEqual([
      '2 VALID',
      '3 INVALID',
      '4 INVALID',
      '5 VALID',
      '6 VALID',
      '7 INVALID',
    ])
    expect(report.rows[2].problems).toContainEqual({ severity: 'ERROR', code: 'COPY_TOO_LONG', field: 'copy' })
    expect(await postsOf(brand.id)).toEqual([])
  })

  test('reads every spreadsheet’s line breaks in a cell as one character', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    expect(await imported(owner, { brandId: brand.id, csv: 'platform,copy\r\nx,"one\r\ntwo\rthree\nfour"\r\n' })).toMatchObject({ created: 1 })
    expect(await postsOf(brand.id)).toMatchObject([{ copy: 'one\ntwo\nthree\nfour' }])
  })

  test('creates the valid rows beside invalid ones, once for one key, in the brand’s time zone, and threads in the order of the file', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    await graph.rows(`update publishing.brands set time_zone = 'Asia/Tokyo' where id = $1`, [brand.id])
    const input = { brandId: brand.id, csv, idempotencyKey: 'file' }
    const report = await imported(owner, input)
    expect([report.created, report.invalid, report.rows.map(({ status }: { status: string }) => status[0]).join('')]).toEqual([3, 3, 'CIICCI'])
    expect(await imported(owner, input)).toEqual(report)
    expect(await postsOf(brand.id)).toMatchObject([
      { copy: 'A draft', status: 'DRAFT', position: 1 },
      { copy: 'First, with a comma', status: 'SCHEDULED', origin: 'IMPORT', position: 1, tags: ['one', 'b'], scheduled_at: new Date('2100-03-01T00:00:00Z') },
      { copy: 'Second', status: 'SCHEDULED', position: 2, scheduled_at: new Date('2100-03-01T00:00:00Z') },
    ])
    const inOrder = await graph.rows<{ copy: string }>('select copy from publishing.posts where brand_id = $1 order by id', [brand.id])
    expect(inOrder.map(({ copy }) => copy)).toEqual(['First, with a comma', 'A draft', 'Second'])
    const other = await graph.execute(document, { input: { ...input, csv: `${csv}\nx,More,,,` } }, { as: owner })
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  test('is NOT_FOUND for another organization’s brand, and rejected for anything but a file', async () => {
    const { owner } = await graph.seed.owner().brand()
    const { brand: theirs } = await graph.seed.owner().brand()
    ;(await graph.execute(document, { input: { brandId: theirs.id, csv } }, { as: owner })).refused('NOT_FOUND')
    const { owner: another, brand } = await graph.seed.owner().brand()
    for (const text of ['', 'copy\nx', 'platform,copy\nx,"open'])
      expect((await graph.execute(document, { input: { brandId: brand.id, csv: text } }, { as: another })).refused('BAD_USER_INPUT').extensions.field).toBe(
        'csv',
      )
  })

  test('does not block others while its texts are measured', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    let turn = 0
    let isOver = false
    const count = () => {
      turn += 1
      if (!isOver) setImmediate(count)
    }
    const weighedAt: number[] = []
    const { content } = everyNetwork.X
    const weigh = vi.spyOn(content, 'measure').mockImplementation(copy => {
      weighedAt.push(turn)
      const began = performance.now()
      while (performance.now() - began < 6);
      return copy.length
    })
    setImmediate(count)
    try {
      await imported(owner, { brandId: brand.id, csv: `platform,copy,scheduledAt\n${'x,Words,2100-03-01T09:00:00Z\n'.repeat(12)}`, dryRun: true })
    } finally {
      isOver = true
      weigh.mockRestore()
    }
    expect(weighedAt.length).toBe(12)
    // Two of them make the ten milliseconds.
    expect(new Set(weighedAt).size).toBeGreaterThanOrEqual(6)
  })
})
